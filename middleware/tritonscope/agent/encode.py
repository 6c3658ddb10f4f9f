"""From spans to the bytes of an OTLP ExportTraceServiceRequest.

Built field by field: message objects take longer (benchmarks/agent.py). Numbers of fields are those of
opentelemetry/proto/{collector/trace,trace,resource,common}/v1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tritonscope import __version__
from tritonscope.agent.attributes import Pair
from tritonscope.agent.spans import SpanData, SpanLink
from tritonscope.agent.wire import sized, tag_of_bytes, tag_of_fixed32, tag_of_fixed64, tag_of_varint, varint

# KeyValue and AnyValue.
_KEY, _VALUE = tag_of_bytes(1), tag_of_bytes(2)
_STRING, _BOOL, _INT = tag_of_bytes(1), tag_of_varint(2), tag_of_varint(3)

# Span. Ids have a fixed size, and so have their fields.
_TRACE_ID, _SPAN_ID = sized(tag_of_bytes(1), bytes(16))[:2], sized(tag_of_bytes(2), bytes(8))[:2]
_TRACE_STATE = tag_of_bytes(3)
_PARENT_ID = sized(tag_of_bytes(4), bytes(8))[:2]
_NAME = tag_of_bytes(5)
_INTERNAL, _CLIENT = (tag_of_varint(6) + varint(kind) for kind in (1, 3))
_TIMES = struct.Struct("<cQcQ").pack
_START, _END = tag_of_fixed64(7), tag_of_fixed64(8)
_ATTRIBUTES = tag_of_bytes(9)
_LINKS = tag_of_bytes(13)
_STATUS = tag_of_bytes(15)
_SAMPLED, _KNOWN, _REMOTE = 0x01, 0x100, 0x200
_FLAGS = tag_of_fixed32(16)
_LOCAL_PARENT = _FLAGS + struct.pack("<I", _SAMPLED | _KNOWN)
_REMOTE_PARENT = _FLAGS + struct.pack("<I", _SAMPLED | _KNOWN | _REMOTE)

# Link: ids as in a span, and flags.
_LINK_FLAGS = tag_of_fixed32(6) + struct.pack("<I", _SAMPLED | _KNOWN)
_LINK = _LINKS + varint(2 + 16 + 2 + 8 + len(_LINK_FLAGS))

# Status: a message and the code for an error.
_STATUS_MESSAGE = tag_of_bytes(2)
_STATUS_ERROR = tag_of_varint(3) + varint(2)

# ResourceSpans and ScopeSpans: what describes the spans is field 1, the spans are field 2.
_DESCRIPTION, _SPANS = tag_of_bytes(1), tag_of_bytes(2)
_REQUEST = tag_of_bytes(1)
_SCOPE = sized(_DESCRIPTION, sized(_KEY, b"tritonscope") + sized(_VALUE, __version__.encode()))


class SpanEncoder:
    """Encodes the spans of one instance."""

    def __init__(self, resource: Iterable[Pair]) -> None:
        self._resource = sized(_DESCRIPTION, b"".join(sized(_DESCRIPTION, _key_value(*pair)) for pair in resource))

    def encode(self, spans: Sequence[SpanData]) -> bytes:
        """Return a whole request. Requests may be joined by joining their bytes: protobuf merges them."""
        parts = [_SCOPE]
        shared: tuple[Pair, ...] = ()
        encoded = b""
        for span in spans:
            # The spans of a batch share most attributes: they are encoded once.
            if span.attributes is not shared:
                shared = span.attributes
                encoded = _attributes(shared)
            body = _span(span, encoded)
            parts += _SPANS, varint(len(body)), body
        return sized(_REQUEST, self._resource + sized(_SPANS, b"".join(parts)))


def _span(span: SpanData, shared_attributes: bytes) -> bytes:
    return b"".join(
        (
            _TRACE_ID,
            span.trace_id,
            _SPAN_ID,
            span.span_id,
            sized(_TRACE_STATE, span.trace_state.encode()) if span.trace_state else b"",
            _PARENT_ID + span.parent_id if span.parent_id else b"",
            _name(span.name),
            _CLIENT if span.is_call else _INTERNAL,
            _TIMES(_START, span.start_unix_ns, _END, span.end_unix_ns),
            shared_attributes,
            _attributes(span.own_attributes) if span.own_attributes else b"",
            b"".join(map(_link, span.links)) if span.links else b"",
            sized(_STATUS, sized(_STATUS_MESSAGE, span.error.encode()) + _STATUS_ERROR) if span.error else b"",
            _REMOTE_PARENT if span.remote_parent else _LOCAL_PARENT,
        )
    )


@lru_cache(maxsize=1024)
def _name(name: str) -> bytes:
    return sized(_NAME, name.encode())


def _link(link: SpanLink) -> bytes:
    return b"".join((_LINK, _TRACE_ID, link.trace_id, _SPAN_ID, link.span_id, _LINK_FLAGS))


def _attributes(pairs: Iterable[Pair]) -> bytes:
    """Return the attributes' part of a span's encoding."""
    parts: list[bytes] = []
    for key, value in pairs:
        content = _key_value(key, value)
        parts += _ATTRIBUTES, varint(len(content)), content
    return b"".join(parts)


def _key_value(key: str, value: str | int | bool) -> bytes:
    if isinstance(value, str):
        content = sized(_STRING, value.encode())
    else:
        content = (_BOOL if isinstance(value, bool) else _INT) + varint(value)
    return _key(key) + varint(len(content)) + content


@lru_cache(maxsize=256)
def _key(key: str) -> bytes:
    """Return the key, and the tag of the value that follows."""
    return sized(_KEY, key.encode()) + _VALUE
