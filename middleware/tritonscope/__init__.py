"""tritonscope: where the time goes in Triton pipelines that have Python stages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonscope.runtime.model import instrument
    from tritonscope.runtime.stages import stage

__all__ = ["__version__", "instrument", "stage"]

__version__ = "0.1.0"

_HOMES = {"instrument": "tritonscope.runtime.model", "stage": "tritonscope.runtime.stages"}


def __getattr__(name: str) -> Any:
    """Import the public names on first use: `import tritonscope` alone must cost nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tritonscope' has no attribute {name!r}")
