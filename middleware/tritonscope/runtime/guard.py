"""Keeps our own mistakes away from the user's model: each kind is logged once, counted, and never raised."""

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("tritonscope")

counts: Counter[str] = Counter()


def report(where: str, error: BaseException) -> None:
    """Count `error`, which came up in `where`, and log it the first time."""
    key = f"{where}: {type(error).__name__}"
    counts[key] += 1
    if counts[key] == 1:
        log.warning("%s: %s (counted from here on; the model is not affected)", key, error)


def guarded(function: Callable[P, R]) -> Callable[P, R | None]:
    """Return `function` made safe to call from a user's code path: where it raises, it returns None."""

    @functools.wraps(function)
    def safe(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report(function.__name__, error)
            return None

    return safe
