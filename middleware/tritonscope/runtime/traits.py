"""What of a model's configuration changes how its batches are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_ITEM_BYTES = {
    "TYPE_BOOL": 1, "TYPE_UINT8": 1, "TYPE_UINT16": 2, "TYPE_UINT32": 4, "TYPE_UINT64": 8, "TYPE_INT8": 1,
    "TYPE_INT16": 2, "TYPE_INT32": 4, "TYPE_INT64": 8, "TYPE_FP16": 2, "TYPE_BF16": 2, "TYPE_FP32": 4,
    "TYPE_FP64": 8,
}  # fmt: skip


class Traits(NamedTuple):
    """`decoupled`: responses come after `execute`. `sequences`: requests have a correlation id.

    `item_bytes` gives the size of one element of each tensor, by the tensor's name; texts have none.
    """

    decoupled: bool = False
    sequences: bool = False
    item_bytes: Mapping[str, int] = MappingProxyType({})


def read_traits(args: Mapping[str, str] | None) -> Traits:
    """Return the traits that the arguments of `initialize` tell; a model without `initialize` has none."""
    config: dict[str, Any] = json.loads((args or {}).get("model_config") or "{}")
    return Traits(
        decoupled=bool(config.get("model_transaction_policy", {}).get("decoupled")),
        sequences="sequence_batching" in config,
        item_bytes={
            tensor["name"]: _ITEM_BYTES[tensor["data_type"]]
            for tensor in (*config.get("input", ()), *config.get("output", ()))
            if tensor.get("data_type") in _ITEM_BYTES
        },
    )
