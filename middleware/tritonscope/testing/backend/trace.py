"""InferenceTrace: the trace that a request is part of, with its W3C context in OpenTelemetry mode."""

from __future__ import annotations

from typing import Any

from tritonscope.testing.backend.arguments import MODULE


class InferenceTrace:
    """The trace of one request; pass it on to BLS requests to make them children."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_context")
    _context: str

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        raise TypeError(f"{MODULE}.InferenceTrace: No constructor defined!")

    def get_context(self) -> str | None:
        """Return JSON with a `traceparent`, None where the request is not traced in OpenTelemetry mode."""
        return self._context or None


def make_trace(context: str) -> InferenceTrace:
    """Return the trace with this context ('' for none)."""
    trace = InferenceTrace.__new__(InferenceTrace)
    trace._context = context  # noqa: SLF001 - its constructor
    return trace
