"""Runs Triton's Python models in this process, without a server, for unit tests and demos.

from tritonscope.testing import serve

with serve("model_repository") as server:
    result = server.infer("decode", {"IMAGE": image})
    assert not result.error
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonscope.testing.result import Pending, Response, Result
    from tritonscope.testing.runtime import InProcessServer, serve

__all__ = ["InProcessServer", "Pending", "Response", "Result", "serve"]

_HOMES = {
    "InProcessServer": "runtime",
    "serve": "runtime",
    "Pending": "result",
    "Response": "result",
    "Result": "result",
}


def __getattr__(name: str) -> Any:
    """Import on first use: the OTLP receiver in this package needs neither NumPy nor tritonclient."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
