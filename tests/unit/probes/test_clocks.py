"""A stage's clock tells time that passed from time that was worked."""

import threading
import time

from tritonscope.probes.clocks import UNKNOWN_NS, StageClock


def started():
    clock = StageClock()
    clock.start()
    return clock


def test_waiting_takes_wall_time_and_no_cpu_time():
    clock = started()
    threading.Event().wait(0.02)
    clock.stop()
    assert clock.wall_ns >= 20_000_000
    assert 0 <= clock.cpu_ns < clock.wall_ns / 2


def test_working_takes_cpu_time():
    clock = started()
    end = time.thread_time_ns() + 5_000_000
    while time.thread_time_ns() < end:
        pass
    clock.stop()
    assert clock.cpu_ns >= 5_000_000


def test_the_start_is_on_the_clock_that_all_processes_share():
    before = time.monotonic_ns()
    clock = started()
    assert before <= clock.start_ns <= time.monotonic_ns()


def test_cpu_time_is_unknown_when_another_thread_stops_the_clock():
    clock = started()
    thread = threading.Thread(target=clock.stop)
    thread.start()
    thread.join()
    assert clock.cpu_ns == UNKNOWN_NS
