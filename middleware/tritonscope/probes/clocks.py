"""Wall time and CPU time of the thread that runs a stage."""

from __future__ import annotations

import time
from threading import get_ident

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


class StageClock:
    """Times one stage, from `start` to `stop`: then its figures are there.

    `start_ns` is on CLOCK_MONOTONIC. `cpu_ns` is `UNKNOWN_NS` where it is unknown, as when the clock was stopped on
    another thread than it was started on.
    """

    __slots__ = ("_cpu_start_ns", "_thread", "cpu_ns", "start_ns", "wall_ns")

    def start(self) -> None:
        """Begin. Both ends read in one order, so the reads' own cost cancels out."""
        self._thread = get_ident()
        self.start_ns = _wall_ns()
        self._cpu_start_ns = _thread_cpu_ns()

    def stop(self) -> None:
        """End: `wall_ns` and `cpu_ns` are what has passed since `start`."""
        self.wall_ns = _wall_ns() - self.start_ns
        known = THREAD_CPU_KNOWN and self._thread == get_ident()
        self.cpu_ns = _thread_cpu_ns() - self._cpu_start_ns if known else UNKNOWN_NS
