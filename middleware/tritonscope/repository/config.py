"""One model's configuration, from a file's text or a server's JSON, to a stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from tritonclient.grpc import model_config_pb2

from tritonscope.errors import ConfigError
from tritonscope.repository.backends import PYTHON_FILE, backend_of
from tritonscope.repository.reading import parse_text, read_message
from tritonscope.repository.stages import Batching, InstanceGroup, SequenceBatching, Stage, Step, Tensor
from tritonscope.repository.text import decode

__all__ = ["parse_json", "parse_text", "read_stage", "read_text", "to_stage"]

# Instances on a CPU without a count: these two backends get 2, all others 1 (SetDefaultInstanceCount).
_TWO_ON_CPU = {"onnxruntime", "tensorflow"}
# What Triton writes for a sequence batcher that does not say it; seen in the configuration of a 2.51 server.
_MAX_IDLE_US = 1_000_000


def read_text(data: bytes) -> str:
    """Return a configuration file's text, in whatever encoding; see `repository.text`."""
    return decode(data).text


def read_stage(text: str, path: Path, name: str, *, files: frozenset[str] = frozenset()) -> Stage:
    """Return the stage that `text`, the content of `path`, describes; `name` and `files` as in `to_stage`.

    Templates and fields of newer servers are read as far as they go, and named in the stage.

    Raises:
        ConfigError: it does not parse; the message names file, line and column.
    """
    reading = read_message(text, path)
    stage = to_stage(reading.message, name, files=files, path=path, text=text)
    return stage._replace(placeholders=reading.placeholders, problems=reading.problems)


def parse_json(config: Mapping[str, Any]) -> Any:
    """Return the ModelConfig message of a configuration as `/v2/models/NAME/config` gives it.

    Fields that this protobuf does not know, those of newer servers, are left out.

    Raises:
        ConfigError: it is no such configuration.
    """
    try:
        return json_format.ParseDict(dict(config), model_config_pb2.ModelConfig(), ignore_unknown_fields=True)
    except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"the configuration of model {config.get('name')!r}: {error}") from None


def to_stage(
    message: Any, name: str, *, files: frozenset[str] = frozenset(), path: Path | None = None, text: str = ""
) -> Stage:
    """Return the stage of a ModelConfig, with what Triton fills in.

    `name` counts where the message has none, `files` (of a version) where it has neither backend nor platform.
    """
    backend = backend_of(message, message.name or name, files)
    return Stage(
        name=message.name or name,
        backend=backend,
        max_batch_size=message.max_batch_size,
        groups=tuple(_group(group, backend) for group in message.instance_group),
        batching=_batching(message),
        decoupled=message.model_transaction_policy.decoupled,
        steps=tuple(_step(step) for step in message.ensemble_scheduling.step),
        entry=message.default_model_filename or PYTHON_FILE,
        path=path,
        text=text,
        sequences=_sequences(message),
        inputs=_tensors(message.input),
        outputs=_tensors(message.output),
        parameters={key: value.string_value for key, value in sorted(message.parameters.items())},
    )


def _group(group: Any, backend: str) -> InstanceGroup:
    kind = _enum_name(model_config_pb2.ModelInstanceGroup.Kind, group.kind, "KIND_")
    default = 2 if kind == "CPU" and backend in _TWO_ON_CPU else 1
    count = group.count if group.count > 0 else default
    return InstanceGroup(kind, count, tuple(group.gpus), group.passive)


def _batching(message: Any) -> Batching | None:
    if not message.HasField("dynamic_batching"):
        return None
    batching = message.dynamic_batching
    return Batching(tuple(batching.preferred_batch_size), batching.max_queue_delay_microseconds)


def _sequences(message: Any) -> SequenceBatching | None:
    """Return the sequence batcher; without a strategy Triton takes `direct`."""
    if not message.HasField("sequence_batching"):
        return None
    batching = message.sequence_batching
    strategy = batching.WhichOneof("strategy_choice") or "direct"
    oldest = batching.oldest
    delay_us = getattr(batching, strategy).max_queue_delay_microseconds
    return SequenceBatching(
        strategy=strategy,
        max_idle_us=batching.max_sequence_idle_microseconds or _MAX_IDLE_US,
        preferred_sizes=tuple(oldest.preferred_batch_size),
        max_queue_delay_us=delay_us,
        max_candidates=oldest.max_candidate_sequences,
        is_iterative=batching.iterative_sequence,
        states=len(batching.state),
    )


def _tensors(tensors: Iterable[Any]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            tensor.name,
            _enum_name(model_config_pb2.DataType, tensor.data_type, "TYPE_"),
            tuple(tensor.dims),
            getattr(tensor, "optional", False),
        )
        for tensor in tensors
    )


def _enum_name(enum: Any, number: int, prefix: str) -> str:
    """Return the name of a value; a number that this protobuf does not know, as proto3 allows, is its own name."""
    value = enum.DESCRIPTOR.values_by_number.get(number)
    return str(number) if value is None else str(value.name).removeprefix(prefix)


def _step(step: Any) -> Step:
    return Step(step.model_name, step.model_version, dict(step.input_map), dict(step.output_map))
