"""The CPU time that this host has spent."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tritonscope.evidence import HostSample

# user, system, irq, softirq of /proc/stat. What runs at a lower priority (nice; our own agent does) gives way to a
# server; idle and iowait are not work; guests are in user already; stolen time is somebody else's.
_BUSY_FIELDS = (0, 2, 5, 6)


def sample_host(stat: Path = Path("/proc/stat")) -> HostSample:
    """Return the CPU time of all logical cores so far, that of low priority left out. Source: proc(5).

    These are the host's cores, of which a container may be allowed less.
    """
    taken_ns = time.monotonic_ns()
    rows = [line.split() for line in stat.read_text().splitlines() if line.startswith("cpu")]
    ticks = [int(field) for field in rows[0][1:]]
    busy_ns = sum(ticks[field] for field in _BUSY_FIELDS) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))
    return HostSample(taken_ns, max(len(rows) - 1, 1), busy_ns)
