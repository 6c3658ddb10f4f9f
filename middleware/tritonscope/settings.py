"""Every setting of the runtime half and of the agent. A bad value warns once and means the default.

A setting must never keep a model from loading, so reading one never raises.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TRITONSCOPE = "TRITONSCOPE"
"""`1` wakes the import hook in every stub process; `0` switches overlays and `@instrument` off as well."""

TRITONSCOPE_DIR = "TRITONSCOPE_DIR"
"""Folder for the rings, one file a stub. Default: `/dev/shm/tritonscope`."""

TRITONSCOPE_RING_BYTES = "TRITONSCOPE_RING_BYTES"
"""Capacity of a stub's ring, in bytes, 65536 or more. Default: 1048576. A full ring drops and counts."""

TRITONSCOPE_LOG_LEVEL = "TRITONSCOPE_LOG_LEVEL"
"""Level of tritonscope's own log lines (`DEBUG` … `ERROR`). Default: `WARNING`."""

TRITONSCOPE_SIZES = "TRITONSCOPE_SIZES"
"""`1` records the bytes of each request's and response's tensors. Default: `0`, for it costs time in the model."""

TRITONSCOPE_OTEL_BRIDGE = "TRITONSCOPE_OTEL_BRIDGE"
"""`0` keeps a model's own OpenTelemetry spans from becoming children of ours. Default: `1`."""

TRITONSCOPE_LOG_CORRELATION = "TRITONSCOPE_LOG_CORRELATION"
"""`1` gives the records of Python's `logging` a `trace_id` and a `span_id`. Default: `0`."""

DEFAULT_DIRECTORY = Path("/dev/shm/tritonscope")  # noqa: S108 - a named, shared folder is the point
DEFAULT_RING_BYTES = 1 << 20
LEAST_RING_BYTES = 1 << 16
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

log = logging.getLogger("tritonscope")


class Settings(NamedTuple):
    """The settings in force, read once a process."""

    enabled: bool
    directory: Path
    ring_bytes: int
    log_level: str
    sizes: bool = False
    otel_bridge: bool = True
    log_correlation: bool = False


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that `environ` gives; never raises."""
    return Settings(
        enabled=environ.get(TRITONSCOPE, "") == "1",
        directory=Path(environ.get(TRITONSCOPE_DIR) or DEFAULT_DIRECTORY),
        ring_bytes=_ring_bytes(environ.get(TRITONSCOPE_RING_BYTES, "")),
        log_level=_level(environ.get(TRITONSCOPE_LOG_LEVEL, "")),
        sizes=_switch(TRITONSCOPE_SIZES, environ, default=False),
        otel_bridge=_switch(TRITONSCOPE_OTEL_BRIDGE, environ, default=True),
        log_correlation=_switch(TRITONSCOPE_LOG_CORRELATION, environ, default=False),
    )


def _ring_bytes(text: str) -> int:
    if not text:
        return DEFAULT_RING_BYTES
    if text.isdecimal() and int(text) >= LEAST_RING_BYTES:
        return int(text)
    log.warning("%s=%r is not a number of bytes >= %d: using %d", TRITONSCOPE_RING_BYTES, text,
                LEAST_RING_BYTES, DEFAULT_RING_BYTES)  # fmt: skip
    return DEFAULT_RING_BYTES


def _switch(name: str, environ: Mapping[str, str], *, default: bool) -> bool:
    text = environ.get(name, "").strip()
    if text not in {"", "0", "1"}:
        log.warning("%s=%r is neither 0 nor 1: using %d", name, text, default)
    return {"0": False, "1": True}.get(text, default)


def _level(text: str) -> str:
    if not text or text.upper() in _LEVELS:
        return text.upper() or "WARNING"
    log.warning("%s=%r is not one of %s: using WARNING", TRITONSCOPE_LOG_LEVEL, text, ", ".join(_LEVELS))
    return "WARNING"
