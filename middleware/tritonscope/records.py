"""What one instance, batch and request is, as stubs write it and everything else reads it.

Times are integers in nanoseconds: `start_ns` on CLOCK_MONOTONIC, which all processes of a host share,
durations as such, `*_unix_ns` since 1970. Records are encoded as MessagePack arrays, in which readers skip
fields that they do not know and fill in those that are missing: fields are only ever added at the end.
"""

from __future__ import annotations

import msgspec


class InstanceRecord(msgspec.Struct, frozen=True, array_like=True, tag="instance"):
    """One stub process: an instance of a Python model. Written once, into the ring's head."""

    model: str
    version: str
    instance: str
    pid: int
    kind: str = "CPU"
    device_id: int = 0
    repository: str = ""
    python: str = ""
    started_unix_ns: int = 0
    span_seed: int = 0


class RequestRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One request of a batch, with what a reader needs to find its parent span.

    `trace_context` is Triton's own (JSON with a `traceparent`), `parameters` the request's parameters (JSON),
    kept only when they carry a `traceparent`. Both are kept raw: parsing is the reader's work, not the model's.
    `correlation_id` is that of its sequence, `fate` what else became of it: `cancelled` or `rescheduled`. Bytes
    of tensors are -1 where they are unknown: not asked for, or texts among them, whose size only decoding tells.
    """

    request_id: str = ""
    trace_context: str = ""
    parameters: str = ""
    error: str = ""
    correlation_id: str = ""
    fate: str = ""
    input_bytes: int = -1
    output_bytes: int = -1


class StageRecord(msgspec.Struct, frozen=True, array_like=True, tag="stage", gc=False):
    """A named part of a batch, as the user's `tritonscope.stage(...)` marks it.

    `number` is its own within the batch, from 1; `parent` that of the stage around it, 0 if that is `execute`.
    `request` says for which of the batch's requests, from 0, it was; -1 for all of them.
    """

    number: int
    parent: int
    name: str
    start_ns: int
    wall_ns: int
    cpu_ns: int = -1
    error: str = ""
    request: int = -1


class CallRecord(msgspec.Struct, frozen=True, array_like=True, tag="call", gc=False):
    """A call of another model out of a batch (BLS); numbered, and for a request, as the batch's stages are.

    `responses` counts what came back; more or fewer than one from a decoupled model. `operation` is empty for an
    inference, else what was done to the model: `load` or `unload`.
    """

    number: int
    parent: int
    model: str
    version: str
    start_ns: int
    wall_ns: int
    responses: int = 1
    error: str = ""
    request: int = -1
    operation: str = ""


class ResponseRecord(msgspec.Struct, frozen=True, array_like=True, tag="response", gc=False):
    """A response that was sent through a sender, to the batch's request number `request`, from 0.

    `final` says that the sender was closed with it; `empty` that it was closed with nothing else.
    """

    request: int
    sent_ns: int
    final: bool = False
    empty: bool = False
    error: str = ""
    output_bytes: int = -1


class FateRecord(msgspec.Struct, frozen=True, array_like=True, tag="fate", gc=False):
    """What the model learnt of the batch's request number `request` after `execute`: that it was `cancelled`."""

    request: int
    seen_ns: int
    fate: str


Detail = StageRecord | CallRecord | ResponseRecord | FateRecord


class BatchRecord(msgspec.Struct, frozen=True, array_like=True, tag="batch", gc=False):
    """One call of `execute`: when, for how long, for whom, and how it ended.

    `cpu_ns` is the CPU time of the thread that ran `execute`, -1 where it is unknown. `error` names the
    exception that `execute` raised, empty when it returned. `details` are what ended within the batch.
    """

    sequence: int
    start_ns: int
    wall_ns: int
    cpu_ns: int
    requests: tuple[RequestRecord, ...]
    error: str = ""
    details: tuple[Detail, ...] = ()


class LateRecord(msgspec.Struct, frozen=True, array_like=True, tag="late", gc=False):
    """What ended after its batch had been recorded: responses of a decoupled model, work of its threads."""

    sequence: int
    detail: Detail


class LifecycleRecord(msgspec.Struct, frozen=True, array_like=True, tag="lifecycle", gc=False):
    """A call of one of the model's other hooks: `initialize`, `finalize` or `is_ready`.

    Or, with the model's name after it, what was done to another model outside of any batch: `load`, `unload`.
    """

    hook: str
    start_ns: int
    wall_ns: int
    error: str = ""


Event = BatchRecord | LateRecord | LifecycleRecord
"""What a ring carries, in the order in which it ended."""

Record = InstanceRecord | Event
