"""The host's CPU time from /proc/stat."""

import os

from tritonscope.sources.host import sample_host

STAT = """cpu  100 20 30 4000 500 6 7 800 90 9
cpu0 50 10 15 2000 250 3 3 400 45 4
cpu1 50 10 15 2000 250 3 4 400 45 5
intr 1 2 3
"""


def test_idle_waiting_stolen_and_yielding_time_is_no_work(tmp_path):
    (tmp_path / "stat").write_text(STAT)
    sample = sample_host(tmp_path / "stat")
    ticks = 100 + 30 + 6 + 7
    assert sample.cpu_busy_ns == ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert sample.cores == 2


def test_this_host_has_cores_that_have_worked():
    first, second = sample_host(), sample_host()
    assert first.cores >= 1
    assert second.cpu_busy_ns >= first.cpu_busy_ns > 0
    assert second.taken_ns > first.taken_ns
