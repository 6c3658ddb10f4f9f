"""Reads tritonserver's log for a person: why a start failed, and the last lines."""

from __future__ import annotations

import re
from pathlib import Path

# "E1201 10:39:15.503186 20343 model_lifecycle.cc:642] "failed to load ..."": severity, date, time, thread, source.
_ERROR = re.compile(r"^E\d{4} [\d:.]+\s+\d+ (?P<source>[\w.]+:\d+)\]\s+\"?(?P<text>.*?)\"?\s*$")
_PROTOBUF = re.compile(r"^\[libprotobuf ERROR .*?\] (?P<text>.*)$")
_FATAL = re.compile(r"^error: (?P<text>.*)$")
# Printed on every machine without a GPU, or said again by a line that names the model.
_NOISE = ("CudaDriverHelper", "No address added out of total", "Failed to create instance", "Unable to start DCGM")
_TAIL_BYTES = 1 << 16


def failure_reasons(log: str) -> list[str]:
    """Return what `log` says went wrong, the first cause first, without repetitions.

    Triton writes line breaks of a Python traceback as backslash and n: they come back as line breaks.
    """
    reasons: list[str] = []
    for line in log.splitlines():
        matched = _ERROR.match(line) or _PROTOBUF.match(line) or _FATAL.match(line)
        if matched is None or any(sign in line for sign in _NOISE):
            continue
        text = matched["text"].replace("\\n", "\n").replace('\\"', '"').strip()
        if text not in reasons:
            reasons.append(text)
    return reasons


def port_was_taken(log: str) -> bool:
    """Whether the server ended because another process listens on one of its ports."""
    return "already in use" in log


def read_log(path: Path) -> str:
    """Return the end of the log, at most 64 KiB of it; empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def tail(path: Path, lines: int) -> str:
    """Return the last `lines` lines of the log, its wide tables and empty lines left out."""
    said = [line for line in read_log(path).splitlines() if line.strip() and not line.startswith(("|", "+-"))]
    return "\n".join(said[-lines:])
