"""Who a request's parent span is, by the rules of W3C Trace Context (https://www.w3.org/TR/trace-context/)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from tritonscope.records import RequestRecord

_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_TRACESTATE = re.compile(r"[\x20-\x7e]{0,512}")
_SAMPLED = 0x01
_NO_TRACE = bytes(16)
_NO_SPAN = bytes(8)


class ParentContext(NamedTuple):
    """The span that a request's span hangs under."""

    trace_id: bytes
    span_id: bytes
    sampled: bool
    trace_state: str = ""


class _Carrier(msgspec.Struct, gc=False):
    traceparent: Any = None
    tracestate: Any = None


_decode = msgspec.json.Decoder(_Carrier).decode


def parent_of(request: RequestRecord) -> ParentContext | None:
    """Return the parent of a request's span: Triton's span, else what the client sent, else None (a root)."""
    return _parent_in(request.trace_context) or _parent_in(request.parameters)


def parse_traceparent(header: str, tracestate: str = "") -> ParentContext | None:
    """Return the parent that a `traceparent` header names, None where the header is malformed or all zero.

    A malformed `tracestate` is left out and does not spoil the parent.
    """
    match = _TRACEPARENT.fullmatch(header)
    if match is None or (match[1] == "00" and match[5] is not None):
        return None
    trace_id, span_id = bytes.fromhex(match[2]), bytes.fromhex(match[3])
    if trace_id == _NO_TRACE or span_id == _NO_SPAN:
        return None
    state = tracestate if _TRACESTATE.fullmatch(tracestate) else ""
    return ParentContext(trace_id, span_id, bool(int(match[4], 16) & _SAMPLED), state)


def _parent_in(json_text: str) -> ParentContext | None:
    if not json_text:
        return None
    try:
        carrier = _decode(json_text)
    except msgspec.MsgspecError:
        return None
    if not isinstance(carrier.traceparent, str):
        return None
    return parse_traceparent(carrier.traceparent, carrier.tracestate if isinstance(carrier.tracestate, str) else "")
