"""The encoding as OpenTelemetry's own protobuf classes make it: what ours must read back as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, SpanFlags, Status

from tritonscope import __version__
from tritonscope.agent.attributes import Pair
from tritonscope.agent.spans import SpanData

if TYPE_CHECKING:
    # Not a public module, so only the type checker may need it.
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

_SCOPE = InstrumentationScope(name="tritonscope", version=__version__)
_INTERNAL = Span.SPAN_KIND_INTERNAL
_CLIENT = Span.SPAN_KIND_CLIENT
_SAMPLED = 0x01
_LOCAL = _SAMPLED | SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
_REMOTE = _LOCAL | SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK


class SpanEncoder:
    """Encodes the spans of one instance."""

    def __init__(self, resource: Iterable[Pair]) -> None:
        self._resource = Resource()
        _put(self._resource.attributes, resource)

    def encode(self, spans: Sequence[SpanData]) -> bytes:
        """Return a whole request. Requests may be joined by joining their bytes: protobuf merges them."""
        scope_spans = ScopeSpans(scope=_SCOPE)
        shared: tuple[Pair, ...] = ()
        encoded = b""
        for span in spans:
            # The spans of a batch share most attributes: they are built once, and parsed into each span.
            if span.attributes is not shared:
                shared = span.attributes
                encoded = _encode_attributes(shared)
            _add(scope_spans, span, encoded)
        resource_spans = ResourceSpans(resource=self._resource, scope_spans=[scope_spans])
        return ExportTraceServiceRequest(resource_spans=[resource_spans]).SerializeToString()


def _add(scope_spans: ScopeSpans, span: SpanData, shared_attributes: bytes) -> None:
    message = scope_spans.spans.add(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        trace_state=span.trace_state,
        name=span.name,
        kind=_CLIENT if span.is_call else _INTERNAL,
        start_time_unix_nano=span.start_unix_ns,
        end_time_unix_nano=span.end_unix_ns,
        flags=_REMOTE if span.remote_parent else _LOCAL,
    )
    message.MergeFromString(shared_attributes)
    if span.own_attributes:
        _put(message.attributes, span.own_attributes)
    for link in span.links:
        message.links.add(trace_id=link.trace_id, span_id=link.span_id, flags=_LOCAL)
    if span.error:
        message.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=span.error))


def _encode_attributes(pairs: Iterable[Pair]) -> bytes:
    """Return the attributes' part of a span's encoding."""
    span = Span()
    _put(span.attributes, pairs)
    return span.SerializeToString()


def _put(attributes: RepeatedCompositeFieldContainer[KeyValue], pairs: Iterable[Pair]) -> None:
    for key, value in pairs:
        slot = attributes.add(key=key).value
        if isinstance(value, str):
            slot.string_value = value
        elif isinstance(value, bool):
            slot.bool_value = value
        else:
            slot.int_value = value
