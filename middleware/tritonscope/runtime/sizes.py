"""How large tensors are, by their shapes alone: nothing is read, converted or copied to find out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

UNKNOWN_BYTES = -1


def bytes_of(tensors: Iterable[Any], item_bytes: Mapping[str, int]) -> int:
    """Return the size of all `tensors`; `UNKNOWN_BYTES` where one has no `item_bytes`, as texts have none."""
    total = 0
    for tensor in tensors:
        item = item_bytes.get(tensor.name())
        if item is None:
            return UNKNOWN_BYTES
        total += prod(tensor.shape()) * item
    return total
