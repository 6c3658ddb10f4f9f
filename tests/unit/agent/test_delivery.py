"""Every span that is offered is sent, failed or dropped, whatever the receiver does; time is the test's own."""

import logging
import threading

import pytest

from tritonscope.agent.backlog import Backlog, Payload
from tritonscope.agent.delivery import Delivery, DeliveryCounts, Retry
from tritonscope.agent.transport import Answer, Fate

ACCEPTED, REFUSED, AWAY = (
    Answer(Fate.ACCEPTED),
    Answer(Fate.REFUSED, reason="HTTP 400"),
    Answer(Fate.RETRY, reason="away"),
)


class Clock:
    """Time that passes only when someone waits, and a note of each wait."""

    def __init__(self):
        self.now_s = 1000.0
        self.pauses: list[float] = []

    def __call__(self):
        return self.now_s

    def wait(self, seconds):
        self.pauses.append(seconds)
        self.now_s += seconds


class Receiver:
    """A transport whose answers the test lists; accepts when it has run out of them."""

    where = "http://collector"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.timeouts: list[float] = []
        self.closed = False

    def send(self, body, timeout_s):
        self.bodies.append(body)
        self.timeouts.append(timeout_s)
        answer = self.answers.pop(0) if self.answers else ACCEPTED
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        self.closed = True


class Bench:
    """A delivery whose thread is the test's own."""

    def __init__(self, *answers, retry=Retry(), limit_bytes=1 << 20):  # noqa: B008 - it is frozen
        self.clock, self.receiver = Clock(), Receiver(*answers)
        self.backlog = Backlog(limit_bytes, request_bytes=1, linger_s=0)
        self.delivery = Delivery(
            self.receiver, 10.0, backlog=self.backlog, retry=retry, clock=self.clock,
            wait=self.clock.wait, sleep=self.clock.wait, chance=lambda: 0.5,
        )  # fmt: skip

    def deliver(self, *bodies: bytes) -> DeliveryCounts:
        """Offer payloads of 10 spans each and send them while the agent lives."""
        for body in bodies:
            self.delivery.offer(Payload(body, 10))
        self.backlog.close()
        self.delivery.run()
        return self.delivery.counts()


def test_payloads_arrive_in_order():
    bench = Bench()
    assert bench.deliver(b"a", b"b", b"c") == DeliveryCounts(sent=30)
    assert bench.receiver.bodies == [b"a", b"b", b"c"]


def test_a_receiver_that_comes_back_gets_the_same_request_after_growing_pauses():
    bench = Bench(AWAY, AWAY, AWAY)
    assert bench.deliver(b"a", b"b") == DeliveryCounts(sent=20)
    assert bench.receiver.bodies == [b"a", b"a", b"a", b"a", b"b"]
    assert bench.clock.pauses == [0.5, 1.0, 2.0]


def test_a_request_is_given_up_after_so_many_attempts_and_the_next_one_waits_longer_still():
    bench = Bench(*[AWAY] * 4, retry=Retry(attempts=3))
    assert bench.deliver(b"a", b"b") == DeliveryCounts(sent=10, failed=10)
    assert bench.receiver.bodies == [b"a", b"a", b"a", b"b", b"b"]
    assert bench.clock.pauses == [0.5, 1.0, 2.0, 4.0]


def test_pauses_have_an_end_to_their_growth_and_some_chance_in_them():
    retry = Retry()
    assert retry.pause_s(1, 0.0) == pytest.approx(0.4)
    assert retry.pause_s(1, 1.0) == pytest.approx(0.6)
    assert retry.pause_s(10_000, 0.5) == retry.longest_pause_s


def test_the_receiver_sets_the_pause_if_it_says_one():
    bench = Bench(Answer(Fate.RETRY, retry_after_s=17.0))
    assert bench.deliver(b"a") == DeliveryCounts(sent=10)
    assert bench.clock.pauses == [17.0]


def test_refused_requests_are_not_tried_again():
    bench = Bench(REFUSED)
    assert bench.deliver(b"a", b"b") == DeliveryCounts(sent=10, failed=10)
    assert bench.receiver.bodies == [b"a", b"b"]
    assert bench.clock.pauses == []


def test_rejected_spans_of_an_accepted_request_count_as_failed(caplog):
    bench = Bench(Answer(Fate.ACCEPTED, rejected_spans=4, reason="too old"))
    assert bench.deliver(b"a") == DeliveryCounts(sent=6, failed=4)
    assert "too old" in caplog.text


def test_a_mistake_in_one_request_does_not_stop_the_next():
    bench = Bench(RuntimeError("a bug"))
    assert bench.deliver(b"a", b"b") == DeliveryCounts(sent=10, failed=10)


def test_a_receiver_that_is_away_costs_one_line_a_minute(caplog):
    bench = Bench(*[AWAY] * 9, retry=Retry(attempts=9, first_pause_s=25, longest_pause_s=25))
    with caplog.at_level(logging.WARNING, "tritonscope"):
        bench.deliver(b"a")
    # Attempts fail every 25 s from 0 to 200 s, and at 225 s the request is given up: told at 0, 75, 150 and 225 s.
    assert len(caplog.records) == 4
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in caplog.text
    assert "away" in caplog.text


def test_what_the_backlog_drops_is_counted():
    bench = Bench(limit_bytes=2)
    assert bench.deliver(b"a", b"b", b"c") == DeliveryCounts(sent=20, dropped=10)
    assert bench.receiver.bodies == [b"b", b"c"]


def closed(bench: Bench, *bodies: bytes, within_s: float = 5.0) -> DeliveryCounts:
    """Close a delivery that has payloads left, and let it work through them."""
    for body in bodies:
        bench.delivery.offer(Payload(body, 10))
    bench.delivery._deadline_s = bench.clock() + within_s
    bench.delivery._closing.set()
    bench.backlog.close()
    bench.delivery.run()
    return bench.delivery.close(0.0)


def test_closing_sends_what_is_left():
    bench = Bench()
    assert closed(bench, b"a", b"b") == DeliveryCounts(sent=20)
    assert bench.receiver.closed


def test_closing_gives_a_receiver_a_second_chance():
    bench = Bench(AWAY)
    assert closed(bench, b"a", b"b") == DeliveryCounts(sent=20)
    assert bench.clock.pauses == [0.5]


def test_closing_does_not_wait_for_a_receiver_that_is_not_there():
    bench = Bench(*[AWAY] * 9)
    assert closed(bench, b"a", b"b", b"c") == DeliveryCounts(failed=10, dropped=20)
    assert bench.receiver.bodies == [b"a", b"a"]


def test_closing_does_not_wait_longer_than_it_may():
    bench = Bench(Answer(Fate.RETRY, retry_after_s=6.0))
    assert closed(bench, b"a", b"b") == DeliveryCounts(failed=10, dropped=10)
    assert bench.clock.pauses == []


def test_closing_shortens_the_time_for_an_answer():
    bench = Bench()
    closed(bench, b"a", within_s=2.0)
    assert bench.receiver.timeouts == [2.0]


def test_the_thread_ends_in_the_middle_of_a_pause():
    """The real thread, with the real pause: an hour, which closing cuts short."""
    answered = threading.Event()

    class Away(Receiver):
        def send(self, body, timeout_s):
            answered.set()
            return Answer(Fate.RETRY, retry_after_s=3600.0)

    delivery = Delivery(Away(), 10.0, backlog=Backlog(linger_s=0))
    delivery.start()
    delivery.offer(Payload(b"a", 10))
    assert answered.wait(10)
    assert delivery.close(10.0) == DeliveryCounts(failed=10)


def test_a_receiver_that_never_answers_is_left_behind():
    asked, never = threading.Event(), threading.Event()

    class Mute(Receiver):
        def send(self, body, timeout_s):
            asked.set()
            never.wait()
            return ACCEPTED

    delivery = Delivery(Mute(), 10.0, backlog=Backlog(linger_s=0))
    delivery.start()
    delivery.offer(Payload(b"a", 10))
    assert asked.wait(10)
    delivery.offer(Payload(b"b", 5))
    assert delivery.close(0.01) == DeliveryCounts(dropped=15)
    never.set()
