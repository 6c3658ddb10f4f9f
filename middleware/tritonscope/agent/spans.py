"""From records to spans: plain values with ids, times, parents and links. Encoding is another module's work."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tritonscope import ids
from tritonscope.agent import attributes as names
from tritonscope.agent.attributes import Pair
from tritonscope.agent.sampling import Sampler
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.trace_context import ParentContext, parent_of


class SpanLink(NamedTuple):
    """Points at another span of ours."""

    trace_id: bytes
    span_id: bytes


class SpanData(msgspec.Struct, frozen=True, gc=False):
    """One sampled span, of kind CLIENT if it `is_call`, else INTERNAL. `parent_id` is empty for a root.

    `attributes` is one and the same object for the spans of a batch, `own_attributes` is what a span has besides.
    `error` is empty where all went well. `remote_parent` says that another process made the parent.
    """

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    start_unix_ns: int
    end_unix_ns: int
    attributes: tuple[Pair, ...]
    own_attributes: tuple[Pair, ...] = ()
    links: tuple[SpanLink, ...] = ()
    error: str = ""
    trace_state: str = ""
    remote_parent: bool = False
    is_call: bool = False


class Origin(NamedTuple):
    """The instance that records come from: what all of its spans share."""

    seed: int
    model: str
    attributes: tuple[Pair, ...]


class Identity(NamedTuple):
    """Where a request's span stands in its trace."""

    trace_id: bytes
    span_id: bytes
    parent: ParentContext | None
    sampled: bool


class Frame(NamedTuple):
    """What a detail of a batch, however late, needs of it: ids, and the attributes that all of its spans share."""

    origin: Origin
    sequence: int
    start_ns: int
    own: SpanData
    requests: tuple[Identity, ...]


class _Batch(NamedTuple):
    """What the spans of one batch share."""

    origin: Origin
    record: BatchRecord
    start_unix_ns: int
    end_unix_ns: int
    attributes: tuple[Pair, ...]


def origin_of(instance: InstanceRecord) -> Origin:
    """Return what all spans of an instance share."""
    return Origin(
        seed=instance.span_seed,
        model=instance.model,
        attributes=(
            (names.MODEL_NAME, instance.model),
            (names.MODEL_VERSION, instance.version),
            (names.INSTANCE, instance.instance),
        ),
    )


def spans_of(
    origin: Origin, record: BatchRecord, offset_ns: int, sampler: Sampler
) -> tuple[list[SpanData], Frame | None]:
    """Return the sampled spans of one batch: its own, that of `execute`, and one for each request.

    `offset_ns` is the wall clock minus CLOCK_MONOTONIC; one for all spans of a batch keeps them together when
    the wall clock steps. The frame is for the batch's details, None if nothing of it is sampled.
    """
    identities = tuple(
        _identify(origin, record.sequence, index, request, sampler) for index, request in enumerate(record.requests)
    )
    if not any(identity.sampled for identity in identities):
        return [], None
    batch = _open(origin, record, offset_ns)
    own = _batch_span(batch, identities)
    requests = [
        _request_span(batch, request, identity, own)
        for request, identity in zip(record.requests, identities, strict=True)
        if identity.sampled
    ]
    frame = Frame(origin, record.sequence, record.start_ns, own, identities)
    return [*requests, own, _compute_span(batch, own)], frame


def spans_when_sampled(record: BatchRecord) -> int:
    """Return how many spans a batch has when all of it is sampled."""
    return len(record.requests) + 2 + len(record.details)


def _identify(origin: Origin, sequence: int, index: int, request: RequestRecord, sampler: Sampler) -> Identity:
    parent = parent_of(request)
    trace_id = parent.trace_id if parent else ids.request_trace_id(origin.seed, sequence, index)
    span_id = ids.request_span_id(origin.seed, sequence, index)
    return Identity(trace_id, span_id, parent, sampler.keeps(trace_id, parent))


def _open(origin: Origin, record: BatchRecord, offset_ns: int) -> _Batch:
    start_ns = record.start_ns + offset_ns
    measured: tuple[Pair, ...] = (
        (names.BATCH_SIZE, len(record.requests)),
        (names.BATCH_SEQUENCE, record.sequence),
        (names.EXECUTE_WALL_NS, record.wall_ns),
    )
    if record.cpu_ns >= 0:
        measured += ((names.EXECUTE_CPU_NS, record.cpu_ns),)
    return _Batch(origin, record, start_ns, start_ns + record.wall_ns, origin.attributes + measured)


def _batch_span(batch: _Batch, identities: tuple[Identity, ...]) -> SpanData:
    """Return the batch's span: under its only request, or a root that links those of its requests that are sent."""
    seed, sequence = batch.origin.seed, batch.record.sequence
    alone = identities[0] if len(identities) == 1 else None
    return SpanData(
        trace_id=alone.trace_id if alone else ids.batch_trace_id(seed, sequence),
        span_id=ids.batch_span_id(seed, sequence),
        parent_id=alone.span_id if alone else b"",
        name=f"{batch.origin.model} batch",
        start_unix_ns=batch.start_unix_ns,
        end_unix_ns=batch.end_unix_ns,
        attributes=batch.attributes,
        links=() if alone else tuple(SpanLink(each.trace_id, each.span_id) for each in identities if each.sampled),
        error=batch.record.error,
        trace_state=alone.parent.trace_state if alone and alone.parent else "",
    )


def _compute_span(batch: _Batch, own: SpanData) -> SpanData:
    return SpanData(
        trace_id=own.trace_id,
        span_id=ids.stage_span_id(batch.origin.seed, batch.record.sequence, ids.COMPUTE),
        parent_id=own.span_id,
        name="compute",
        start_unix_ns=batch.start_unix_ns,
        end_unix_ns=batch.end_unix_ns,
        attributes=batch.attributes,
        error=own.error,
        trace_state=own.trace_state,
    )


def _request_span(batch: _Batch, request: RequestRecord, identity: Identity, own: SpanData) -> SpanData:
    parent = identity.parent
    return SpanData(
        trace_id=identity.trace_id,
        span_id=identity.span_id,
        parent_id=parent.span_id if parent else b"",
        name=batch.origin.model,
        start_unix_ns=batch.start_unix_ns,
        end_unix_ns=batch.end_unix_ns,
        attributes=batch.attributes,
        own_attributes=_request_attributes(request),
        links=() if own.parent_id else (SpanLink(own.trace_id, own.span_id),),
        error=request.error or batch.record.error,
        trace_state=parent.trace_state if parent else "",
        remote_parent=parent is not None,
    )


def _request_attributes(request: RequestRecord) -> tuple[Pair, ...]:
    own = (
        (names.REQUEST_ID, request.request_id),
        (names.CORRELATION_ID, request.correlation_id),
        (names.FATE, request.fate),
    )
    sizes = ((names.INPUT_BYTES, request.input_bytes), (names.OUTPUT_BYTES, request.output_bytes))
    return (*(pair for pair in own if pair[1]), *(pair for pair in sizes if pair[1] >= 0))
