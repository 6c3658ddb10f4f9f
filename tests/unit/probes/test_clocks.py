"""A stage's clock tells time that passed from time that was worked."""

import threading
import time

from tritonscope.probes.clocks import UNKNOWN_NS, StageClock


def test_waiting_takes_wall_time_and_no_cpu_time():
    clock = StageClock()
    clock.start()
    threading.Event().wait(0.02)
    elapsed = clock.stop()
    assert elapsed.wall_ns >= 20_000_000
    assert 0 <= elapsed.cpu_ns < elapsed.wall_ns / 2


def test_working_takes_cpu_time():
    clock = StageClock()
    clock.start()
    end = time.thread_time_ns() + 5_000_000
    while time.thread_time_ns() < end:
        pass
    assert clock.stop().cpu_ns >= 5_000_000


def test_the_start_is_on_the_clock_that_all_processes_share():
    before = time.monotonic_ns()
    clock = StageClock()
    clock.start()
    assert before <= clock.stop().start_ns <= time.monotonic_ns()


def test_cpu_time_is_unknown_when_another_thread_stops_the_clock():
    clock = StageClock()
    clock.start()
    stopped = []
    thread = threading.Thread(target=lambda: stopped.append(clock.stop()))
    thread.start()
    thread.join()
    assert stopped[0].cpu_ns == UNKNOWN_NS
