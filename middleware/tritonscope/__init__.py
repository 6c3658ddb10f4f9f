"""tritonscope: where the time goes in Triton pipelines that have Python stages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonscope.runtime.context import SpanContext, current_context
    from tritonscope.runtime.model import instrument
    from tritonscope.runtime.positions import for_request
    from tritonscope.runtime.stages import stage

__all__ = ["SpanContext", "__version__", "current_context", "for_request", "instrument", "stage"]

__version__ = "0.1.0"

_HOMES = {
    "SpanContext": "tritonscope.runtime.context",
    "current_context": "tritonscope.runtime.context",
    "for_request": "tritonscope.runtime.positions",
    "instrument": "tritonscope.runtime.model",
    "stage": "tritonscope.runtime.stages",
}


def __getattr__(name: str) -> Any:
    """Import the public names on first use: `import tritonscope` alone must cost nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tritonscope' has no attribute {name!r}")
