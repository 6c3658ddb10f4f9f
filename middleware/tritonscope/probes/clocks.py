"""Wall time and CPU time of the thread that runs a stage."""

from __future__ import annotations

import time
from threading import get_ident
from typing import NamedTuple

UNKNOWN_NS = -1

_wall_ns = time.monotonic_ns
try:
    time.thread_time_ns()
except (AttributeError, OSError):  # pragma: no cover - no Linux that Triton runs on lacks it

    def _thread_cpu_ns() -> int:
        return 0

    THREAD_CPU_KNOWN = False
else:
    _thread_cpu_ns = time.thread_time_ns
    THREAD_CPU_KNOWN = True


class Elapsed(NamedTuple):
    """What a clock measured. `start_ns` is on CLOCK_MONOTONIC; `cpu_ns` is `UNKNOWN_NS` where it is unknown."""

    start_ns: int
    wall_ns: int
    cpu_ns: int


class StageClock:
    """Times one stage. Stopped on another thread than it was started on, its CPU time is unknown."""

    __slots__ = ("_cpu_ns", "_start_ns", "_thread")

    def start(self) -> int:
        """Begin, and return the wall clock. Both ends read in one order, so the reads' own cost cancels out."""
        self._thread = get_ident()
        self._start_ns = start_ns = _wall_ns()
        self._cpu_ns = _thread_cpu_ns()
        return start_ns

    def stop(self) -> Elapsed:
        """End, and return what has passed since `start`."""
        wall_ns = _wall_ns() - self._start_ns
        known = THREAD_CPU_KNOWN and self._thread == get_ident()
        return Elapsed(self._start_ns, wall_ns, _thread_cpu_ns() - self._cpu_ns if known else UNKNOWN_NS)
