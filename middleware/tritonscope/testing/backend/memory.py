"""PreferredMemory: where a BLS caller wants its outputs. Here everything is in the CPU's memory."""

from __future__ import annotations

import enum
from typing import Any

from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature, is_a, is_int64


class MemoryType(enum.Enum):
    """Kinds of memory."""

    TRITONSERVER_MEMORY_GPU = 0
    TRITONSERVER_MEMORY_CPU = 1

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


_INIT = Signature(
    "__init__",
    f"{MODULE}.PreferredMemory(preferred_memory_type: triton::backend::python::PreferredMemory::MemoryType, "
    "preferred_device_id: int = 0)",
    (Parameter("preferred_memory_type", is_a(MemoryType)), Parameter("preferred_device_id", is_int64, 0)),
)


class PreferredMemory:
    """Where outputs of a BLS request should be: a kind of memory and a device."""

    __module__ = MODULE
    __slots__ = ("__weakref__",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _INIT.bind(args, kwargs)


def default_memory() -> PreferredMemory:
    """Return the preference for wherever the output is already."""
    return PreferredMemory.__new__(PreferredMemory)
