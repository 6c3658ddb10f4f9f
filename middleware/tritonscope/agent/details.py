"""Spans of what happened within a batch or after it: stages, calls of other models, responses; and of hooks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from tritonscope import ids
from tritonscope.agent import attributes as names
from tritonscope.agent.attributes import Pair
from tritonscope.agent.spans import Frame, Origin, SpanData
from tritonscope.records import CallRecord, Detail, FateRecord, LifecycleRecord, ResponseRecord, StageRecord

_KEPT_BATCHES = 4096


class Details:
    """Makes the spans of details. It remembers the last batches, for what comes late, and their last responses."""

    def __init__(self) -> None:
        self._frames: OrderedDict[int, Frame] = OrderedDict()
        # (batch, request) -> how many responses were sent, and when the last one was.
        self._sent: dict[tuple[int, int], tuple[int, int]] = {}

    def remember(self, frame: Frame) -> None:
        """Keep a batch for its details."""
        self._frames[frame.sequence] = frame
        if len(self._frames) > _KEPT_BATCHES:
            sequence, oldest = self._frames.popitem(last=False)
            for index in range(len(oldest.requests)):
                self._sent.pop((sequence, index), None)

    def spans(self, sequence: int, details: Iterable[Detail], offset_ns: int) -> list[SpanData]:
        """Return the spans of details of batch `sequence`, none if it is unknown or not sampled."""
        frame = self._frames.get(sequence)
        made = [self._span(frame, detail, offset_ns) for detail in details] if frame else []
        return [span for span in made if span is not None]

    def _span(self, frame: Frame, detail: Detail, offset_ns: int) -> SpanData | None:
        if isinstance(detail, StageRecord):
            return _stage_span(frame, detail, offset_ns)
        if isinstance(detail, CallRecord):
            return _call_span(frame, detail, offset_ns)
        if isinstance(detail, FateRecord):
            return _fate_span(frame, detail, offset_ns)
        return self._response_span(frame, detail, offset_ns)

    def _response_span(self, frame: Frame, detail: ResponseRecord, offset_ns: int) -> SpanData | None:
        """Return a span from the response before it, or from the batch's start, to the moment it was sent."""
        key = (frame.sequence, detail.request)
        number, last_ns = self._sent.get(key, (0, frame.start_ns))
        self._sent[key] = (number + 1, detail.sent_ns)
        identity = frame.requests[detail.request]
        if not identity.sampled:
            return None
        return SpanData(
            trace_id=identity.trace_id,
            span_id=ids.response_span_id(frame.origin.seed, frame.sequence, detail.request, number + 1),
            parent_id=identity.span_id,
            name="response",
            start_unix_ns=last_ns + offset_ns,
            end_unix_ns=detail.sent_ns + offset_ns,
            attributes=frame.own.attributes,
            own_attributes=(
                (names.RESPONSE_NUMBER, number + 1),
                (names.RESPONSE_FINAL, detail.final),
                (names.RESPONSE_EMPTY, detail.empty),
                *_known(names.OUTPUT_BYTES, detail.output_bytes),
            ),
            error=detail.error,
            trace_state=frame.own.trace_state,
        )


def lifecycle_span(origin: Origin, record: LifecycleRecord, offset_ns: int) -> SpanData:
    """Return the span of a call of `initialize` or `finalize`: a root of its own."""
    trace_id, span_id = ids.lifecycle_ids(origin.seed, record.start_ns)
    return SpanData(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=b"",
        name=f"{origin.model} {record.hook}",
        start_unix_ns=record.start_ns + offset_ns,
        end_unix_ns=record.start_ns + record.wall_ns + offset_ns,
        attributes=origin.attributes,
        error=record.error,
    )


def _fate_span(frame: Frame, detail: FateRecord, offset_ns: int) -> SpanData | None:
    """Return a span without length, at the moment when the model learnt of it."""
    identity = frame.requests[detail.request]
    if not identity.sampled:
        return None
    return SpanData(
        trace_id=identity.trace_id,
        span_id=ids.fate_span_id(frame.origin.seed, frame.sequence, detail.request),
        parent_id=identity.span_id,
        name=detail.fate,
        start_unix_ns=detail.seen_ns + offset_ns,
        end_unix_ns=detail.seen_ns + offset_ns,
        attributes=frame.own.attributes,
        own_attributes=((names.FATE, detail.fate),),
        trace_state=identity.parent.trace_state if identity.parent else "",
    )


def _stage_span(frame: Frame, stage: StageRecord, offset_ns: int) -> SpanData | None:
    return _inner_span(frame, stage, offset_ns, stage.name, _known(names.STAGE_CPU_NS, stage.cpu_ns))


def _known(name: str, value: int) -> tuple[Pair, ...]:
    return ((name, value),) if value >= 0 else ()


def _call_span(frame: Frame, call: CallRecord, offset_ns: int) -> SpanData | None:
    told: tuple[Pair, ...] = ((names.CALL_MODEL, call.model), (names.CALL_RESPONSES, call.responses))
    if call.version:
        told += ((names.CALL_VERSION, call.version),)
    if call.operation:
        told += ((names.CALL_OPERATION, call.operation),)
    return _inner_span(frame, call, offset_ns, f"{call.operation or 'call'} {call.model}", told)


def _inner_span(
    frame: Frame, detail: StageRecord | CallRecord, offset_ns: int, name: str, told: tuple[Pair, ...]
) -> SpanData | None:
    """Return the span of a numbered detail, under the one around it; number 0 is `execute` itself.

    One that was made for one of several requests stands in that request's trace, if that is sampled.
    """
    seed = frame.origin.seed
    trace_id, trace_state = frame.own.trace_id, frame.own.trace_state
    parent_id = ids.stage_span_id(seed, frame.sequence, detail.parent)
    if len(frame.requests) > 1 and detail.request >= 0:
        identity = frame.requests[detail.request]
        if not identity.sampled:
            return None
        trace_id, trace_state = identity.trace_id, identity.parent.trace_state if identity.parent else ""
        parent_id = parent_id if detail.parent else identity.span_id
    return SpanData(
        trace_id=trace_id,
        span_id=ids.stage_span_id(seed, frame.sequence, detail.number),
        parent_id=parent_id,
        name=name,
        start_unix_ns=detail.start_ns + offset_ns,
        end_unix_ns=detail.start_ns + detail.wall_ns + offset_ns,
        attributes=frame.own.attributes,
        own_attributes=told,
        error=detail.error,
        trace_state=trace_state,
        is_call=isinstance(detail, CallRecord),
    )
