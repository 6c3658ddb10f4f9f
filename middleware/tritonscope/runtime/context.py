"""Which of our spans the running code is in: for a model's own logs, calls and spans to refer to.

The span itself is made later, by the agent: its ids are derived from the records, so they are known here already.
"""

from __future__ import annotations

from typing import NamedTuple

from tritonscope import ids
from tritonscope.runtime.batch import Position, here
from tritonscope.runtime.guard import guarded
from tritonscope.trace_context import ParentContext, parent_of


class SpanContext(NamedTuple):
    """A span of ours, in lower-case hexadecimal: 32 digits name the trace, 16 the span.

    `sampled` is what the caller's trace says, true where the trace begins here.
    """

    trace_id: str
    span_id: str
    sampled: bool
    trace_state: str = ""

    @property
    def traceparent(self) -> str:
        """The header for requests to other services, as W3C Trace Context has it."""
        return f"00-{self.trace_id}-{self.span_id}-{self.sampled:02x}"


def current_context() -> SpanContext | None:
    """Return the innermost span of ours around the caller: that of a stage, of `execute` or of a request.

    None outside of any observed batch. It never raises. In a batch of several requests it is the batch's own
    trace, unless `for_request` says whom the code works for.
    """
    return _current()


@guarded
def _current() -> SpanContext | None:
    position = here()
    return None if position is None else context_of(position)


def context_of(position: Position) -> SpanContext:
    """Return the span that `position` is in."""
    batch, stage, index = position.batch, position.parent, position.request
    seed = batch.recorder.seed
    if len(batch.requests) == 1:
        index = 0
    elif index >= 0 and not stage:
        return _context(position, index, ids.request_span_id(seed, batch.sequence, index))
    return _context(position, index, ids.stage_span_id(seed, batch.sequence, stage))


def _context(position: Position, index: int, span_id: bytes) -> SpanContext:
    batch = position.batch
    seed = batch.recorder.seed
    parent: ParentContext | None = None
    if index < 0:
        trace_id = ids.batch_trace_id(seed, batch.sequence)
    else:
        parent = parent_of(batch.requests[index])
        trace_id = parent.trace_id if parent else ids.request_trace_id(seed, batch.sequence, index)
    sampled, state = (parent.sampled, parent.trace_state) if parent else (True, "")
    return SpanContext(trace_id.hex(), span_id.hex(), sampled, state)
