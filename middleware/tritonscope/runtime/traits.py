"""What of a model's configuration changes how its batches are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Traits(NamedTuple):
    """`decoupled`: responses come after `execute`. `sequences`: requests have a correlation id."""

    decoupled: bool = False
    sequences: bool = False


def read_traits(args: Mapping[str, str] | None) -> Traits:
    """Return the traits that the arguments of `initialize` tell; a model without `initialize` has none."""
    config: dict[str, Any] = json.loads((args or {}).get("model_config") or "{}")
    return Traits(
        decoupled=bool(config.get("model_transaction_policy", {}).get("decoupled")),
        sequences="sequence_batching" in config,
    )
