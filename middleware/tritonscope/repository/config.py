"""One model's configuration: from text or Triton's JSON, through the real protobuf, to a stage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format, text_format
from tritonclient.grpc import model_config_pb2

from tritonscope.errors import ConfigError
from tritonscope.repository.stages import Batching, InstanceGroup, Stage, Step

# Instances on a CPU without a count: these two backends get 2, all others 1 (SetDefaultInstanceCount).
_TWO_ON_CPU = {"onnxruntime", "tensorflow"}
_PLATFORM_BACKENDS = {
    "tensorrt_plan": "tensorrt", "onnxruntime_onnx": "onnxruntime", "pytorch_libtorch": "pytorch",
    "libtorch": "pytorch", "tensorflow_savedmodel": "tensorflow", "tensorflow_graphdef": "tensorflow",
}  # fmt: skip
# Without backend and platform, Triton goes by the model's file, in this order (AutoCompleteBackendFields).
_FILE_BACKENDS = {
    "model.savedmodel": "tensorflow", "model.graphdef": "tensorflow", "model.plan": "tensorrt",
    "model.onnx": "onnxruntime", "model.xml": "openvino", "model.pt": "pytorch", "model.py": "python",
}  # fmt: skip


def read_text(data: bytes) -> str:
    """Return a configuration file's text: UTF-8 with or without a mark, else what every byte means in Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_text(text: str, path: Path) -> Any:
    """Return the ModelConfig message that `text`, the content of `path`, holds.

    Raises:
        ConfigError: it does not parse; the message says where and why.
    """
    try:
        return text_format.Parse(text, model_config_pb2.ModelConfig())
    except text_format.ParseError as error:
        # The library writes "line:column : what"; placeholders of templates end up here too.
        hint = "; it is a template: fill in its ${...} first" if "${" in text else ""
        what = (str(error).partition(" : ")[2] or str(error)).replace("\r", "")
        raise ConfigError(f"{path}:{error.GetLine()}:{error.GetColumn()}: {what}{hint}") from None


def parse_json(config: Mapping[str, Any]) -> Any:
    """Return the ModelConfig message of a configuration as `/v2/models/NAME/config` gives it.

    Raises:
        ConfigError: it is no such configuration.
    """
    try:
        return json_format.ParseDict(dict(config), model_config_pb2.ModelConfig(), ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise ConfigError(f"the configuration of model {config.get('name')!r}: {error}") from None


def to_stage(
    message: Any, name: str, *, files: frozenset[str] = frozenset(), path: Path | None = None, text: str = ""
) -> Stage:
    """Return the stage of a ModelConfig, with what Triton fills in.

    `name` counts where the message has none, `files` (of a version) where it has neither backend nor platform.
    """
    backend = _backend(message, files)
    return Stage(
        name=message.name or name,
        backend=backend,
        max_batch_size=message.max_batch_size,
        groups=tuple(_group(group, backend) for group in message.instance_group),
        batching=_batching(message),
        decoupled=message.model_transaction_policy.decoupled,
        steps=tuple(_step(step) for step in message.ensemble_scheduling.step),
        entry=message.default_model_filename or "model.py",
        path=path,
        text=text,
    )


def _backend(message: Any, files: frozenset[str]) -> str:
    if message.HasField("ensemble_scheduling") or message.platform == "ensemble":
        return "ensemble"
    if message.backend or message.platform:
        return str(message.backend or _PLATFORM_BACKENDS.get(message.platform, message.platform))
    names = {message.default_model_filename} if message.default_model_filename else files
    return next((backend for file, backend in _FILE_BACKENDS.items() if file in names), "")


def _group(group: Any, backend: str) -> InstanceGroup:
    kind = model_config_pb2.ModelInstanceGroup.Kind.Name(group.kind).removeprefix("KIND_")
    default = 2 if kind == "CPU" and backend in _TWO_ON_CPU else 1
    count = group.count if group.count > 0 else default
    return InstanceGroup(kind, count, tuple(group.gpus), group.passive)


def _batching(message: Any) -> Batching | None:
    if not message.HasField("dynamic_batching"):
        return None
    batching = message.dynamic_batching
    return Batching(tuple(batching.preferred_batch_size), batching.max_queue_delay_microseconds)


def _step(step: Any) -> Step:
    return Step(step.model_name, step.model_version, dict(step.input_map), dict(step.output_map))
