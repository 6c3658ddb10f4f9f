"""Makes a model's own OpenTelemetry spans children of ours, in processes that have loaded OpenTelemetry's API.

Nothing is imported: where the model has not done it, there are no spans of its own.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any

from tritonscope.runtime.batch import Position
from tritonscope.runtime.context import SpanContext, context_of
from tritonscope.runtime.guard import guarded

_TRACE, _CONTEXT = "opentelemetry.trace", "opentelemetry.context"

# What we attached last: any other span that is current is the model's own, and stays it.
_attached: ContextVar[Any] = ContextVar("tritonscope_attached", default=None)


def attach(position: Position) -> Any:
    """Make the span that `position` is in OpenTelemetry's current one; return what `detach` needs, if anything."""
    if _TRACE not in sys.modules or not position.batch.recorder.bridges:
        return None
    return _attach(position)


@guarded
def detach(token: Any) -> None:
    """Make current what was it before."""
    sys.modules[_CONTEXT].detach(token)


@guarded
def _attach(position: Position) -> Any:
    trace = sys.modules[_TRACE]
    present = trace.get_current_span().get_span_context()
    if present.is_valid and present is not _attached.get():
        return None
    theirs = _translated(trace, context_of(position))
    _attached.set(theirs)
    return sys.modules[_CONTEXT].attach(trace.set_span_in_context(trace.NonRecordingSpan(theirs)))


def _translated(trace: Any, ours: SpanContext) -> Any:
    return trace.SpanContext(
        trace_id=int(ours.trace_id, 16),
        span_id=int(ours.span_id, 16),
        is_remote=False,
        trace_flags=trace.TraceFlags(int(ours.sampled)),
        trace_state=trace.TraceState.from_header([ours.trace_state]) if ours.trace_state else None,
    )
