"""Keeps our own mistakes away from the user's model: each kind is logged once, counted, and never raised."""

from __future__ import annotations

import logging
from collections import Counter

log = logging.getLogger("tritonscope")

counts: Counter[str] = Counter()


def report(where: str, error: BaseException) -> None:
    """Count `error`, which came up in `where`, and log it the first time."""
    key = f"{where}: {type(error).__name__}"
    counts[key] += 1
    if counts[key] == 1:
        log.warning("%s: %s (counted from here on; the model is not affected)", key, error)
