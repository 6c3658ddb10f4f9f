"""Numbers in words: each unit of a fact as a person reads it."""

from __future__ import annotations

import math

_NS_PER_MS = 1e6


def show(value: float, unit: str) -> str:
    """Return `value` with its unit, at a sensible precision."""
    if math.isinf(value):
        return "no limit"
    if unit == "ns":
        return milliseconds(value)
    if unit == "share":
        return f"{value:.0%}"
    if unit == "requests/s":
        return f"{value:.1f}/s"
    number = f"{value:.2f}".rstrip("0").rstrip(".")
    return number if unit == "1" else f"{number} {unit}"


def milliseconds(value_ns: float) -> str:
    """Return a time in milliseconds."""
    value_ms = value_ns / _NS_PER_MS
    return f"{value_ms:.2f} ms" if value_ms < 100 else f"{value_ms:.0f} ms"  # noqa: PLR2004 - three digits


def bar(share: float, width: int, *, ascii_only: bool) -> str:
    """Return a bar of `width` characters, filled to `share`."""
    if ascii_only:
        return ("#" * round(share * width)).ljust(width, ".")
    whole, rest = divmod(round(share * width * 8), 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)
