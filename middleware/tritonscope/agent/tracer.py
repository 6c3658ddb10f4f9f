"""One instance's way from records to payloads that are ready to send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tritonscope.agent.backlog import Payload
from tritonscope.agent.encode import SpanEncoder
from tritonscope.agent.resource import instance_resource
from tritonscope.agent.sampling import Sampler
from tritonscope.agent.spans import SpanData, origin_of, spans_of, spans_when_sampled
from tritonscope.records import BatchRecord, InstanceRecord

_PAYLOAD_SPANS = 512


class InstanceTracer:
    """Makes the spans of one instance. `unsampled` counts those that were not made."""

    def __init__(self, instance: InstanceRecord, host: Mapping[str, str | int], sampler: Sampler) -> None:
        self._origin = origin_of(instance)
        self._encoder = SpanEncoder(instance_resource(host, instance))
        self._sampler = sampler
        self.unsampled = 0

    def trace(self, records: Iterable[BatchRecord], offset_ns: int) -> Iterator[Payload]:
        """Yield the spans of `records`, encoded; `offset_ns` is the wall clock minus CLOCK_MONOTONIC."""
        spans: list[SpanData] = []
        for record in records:
            made = spans_of(self._origin, record, offset_ns, self._sampler)
            self.unsampled += spans_when_sampled(record) - len(made)
            spans += made
            if len(spans) >= _PAYLOAD_SPANS:
                yield self._payload(spans)
                spans = []
        if spans:
            yield self._payload(spans)

    def _payload(self, spans: list[SpanData]) -> Payload:
        return Payload(self._encoder.encode(spans), len(spans))
