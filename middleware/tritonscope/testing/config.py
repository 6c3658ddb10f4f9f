"""config.pbtxt to the configuration that Triton hands to its backends: a dictionary with the defaults filled in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message
from tritonclient.grpc.model_config_pb2 import ModelConfig

from tritonscope.errors import ConfigError, RepositoryError

Config = dict[str, Any]


def read_config(model_dir: Path) -> Config:
    """Return the configuration of the model in `model_dir`; without a config.pbtxt, that of a Python model.

    Raises:
        ConfigError: config.pbtxt does not parse.
    """
    message = ModelConfig()
    path = model_dir / "config.pbtxt"
    if path.is_file():
        try:
            text_format.Parse(path.read_text(), message)
        except text_format.ParseError as error:
            raise ConfigError(f"{path}: {error}") from None
    if not message.name:
        message.name = model_dir.name
    if not message.backend and message.platform != "ensemble":
        message.backend = "python"
    return as_dict(message)


def complete(config: Config) -> Config:
    """Return the configuration with what Triton adds once it is known to be right."""
    full = {"version_policy": {"latest": {"num_versions": 1}}, **config}
    if "ensemble_scheduling" in config:
        return full
    pinned = {"enable": True}
    optimization = {
        "priority": "PRIORITY_DEFAULT",
        "input_pinned_memory": pinned,
        "output_pinned_memory": pinned,
        "gather_kernel_buffer_threshold": 0,
        "eager_batching": False,
    }
    full["optimization"] = {**optimization, **config.get("optimization", {})}
    groups = config.get("instance_group") or [as_dict(ModelConfig().instance_group.add())]
    full["instance_group"] = [_completed_group(config["name"], at, group) for at, group in enumerate(groups)]
    full["default_model_filename"] = config.get("default_model_filename") or "model.py"
    return full


def _completed_group(model: str, at: int, group: Config) -> Config:
    # Without a GPU, KIND_AUTO is the CPU.
    kind = "KIND_CPU" if group["kind"] == "KIND_AUTO" else group["kind"]
    return {**group, "name": group["name"] or f"{model}_{at}", "kind": kind, "count": group["count"] or 1}


def versions(model_dir: Path, config: Config) -> list[int]:
    """Return the versions that the model's version policy wants, oldest first.

    Raises:
        RepositoryError: there is none.
    """
    present = sorted(int(path.name) for path in model_dir.iterdir() if path.is_dir() and path.name.isdecimal())
    policy = config["version_policy"]
    if "specific" in policy:
        present = [version for version in present if version in policy["specific"]["versions"]]
    elif "latest" in policy:
        present = present[-(policy["latest"]["num_versions"] or 1) :]
    if not present:
        raise RepositoryError(
            f"failed to load '{model_dir.name}', at least one version must be available under the version policy "
            f"of model '{model_dir.name}'"
        )
    return present


def to_json(config: Config) -> str:
    """Return the configuration as Triton writes it: without spaces."""
    return json.dumps(config, separators=(",", ":"))


def as_dict(message: Message) -> Config:
    """Return a protobuf message as a dictionary: unset scalars and lists as their defaults, integers as integers.

    protobuf's own MessageToDict writes 64-bit integers as strings; Triton does not.
    """
    values: Config = {}
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None or field.is_repeated:
            values[field.name] = _field_value(field, getattr(message, field.name))
        elif message.HasField(field.name):
            values[field.name] = as_dict(getattr(message, field.name))
    return values


def _field_value(field: Any, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        of = field.message_type.fields_by_name["value"]
        return {key: _scalar(of, each) for key, each in value.items()}
    if field.is_repeated:
        return [_scalar(field, each) for each in value]
    return _scalar(field, value)


def _scalar(field: Any, value: Any) -> Any:
    if isinstance(value, Message):
        return as_dict(value)
    if field.enum_type is not None:
        return field.enum_type.values_by_number[value].name
    return value
