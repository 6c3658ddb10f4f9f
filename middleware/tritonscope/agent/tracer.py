"""One instance's way from records to payloads that are ready to send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tritonscope.agent.backlog import Payload
from tritonscope.agent.details import Details, lifecycle_span
from tritonscope.agent.encode import SpanEncoder
from tritonscope.agent.resource import instance_resource
from tritonscope.agent.sampling import Sampler
from tritonscope.agent.spans import SpanData, origin_of, spans_of, spans_when_sampled
from tritonscope.records import Event, InstanceRecord, LateRecord, LifecycleRecord

_PAYLOAD_SPANS = 512


class InstanceTracer:
    """Makes the spans of one instance. `unsampled` counts those that were not made."""

    def __init__(self, instance: InstanceRecord, host: Mapping[str, str | int], sampler: Sampler) -> None:
        self._origin = origin_of(instance)
        self._encoder = SpanEncoder(instance_resource(host, instance))
        self._sampler = sampler
        self._details = Details()
        self.unsampled = 0

    def trace(self, events: Iterable[Event], offset_ns: int) -> Iterator[Payload]:
        """Yield the spans of `events`, encoded; `offset_ns` is the wall clock minus CLOCK_MONOTONIC."""
        spans: list[SpanData] = []
        for event in events:
            spans += self._spans(event, offset_ns)
            if len(spans) >= _PAYLOAD_SPANS:
                yield self._payload(spans)
                spans = []
        if spans:
            yield self._payload(spans)

    def _spans(self, event: Event, offset_ns: int) -> list[SpanData]:
        if isinstance(event, LifecycleRecord):
            return [lifecycle_span(self._origin, event, offset_ns)]
        if isinstance(event, LateRecord):
            made = self._details.spans(event.sequence, (event.detail,), offset_ns)
            self.unsampled += 1 - len(made)
            return made
        made, frame = spans_of(self._origin, event, offset_ns, self._sampler)
        if frame is not None:
            self._details.remember(frame)
            made += self._details.spans(event.sequence, event.details, offset_ns)
        self.unsampled += spans_when_sampled(event) - len(made)
        return made

    def _payload(self, spans: list[SpanData]) -> Payload:
        return Payload(self._encoder.encode(spans), len(spans))
