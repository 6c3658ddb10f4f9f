"""Sends the backlog in a thread of its own: retries with growing pauses, and counts what was not delivered."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from tritonscope.agent.backlog import Backlog, Payload
from tritonscope.agent.complaints import Complaints
from tritonscope.agent.transport import Answer, Fate, Transport
from tritonscope.settings import log

_SHORTEST_TIMEOUT_S = 0.1
_WAY_OUT = (
    "still trying; name your receiver with OTEL_EXPORTER_OTLP_ENDPOINT, or send none with OTEL_TRACES_EXPORTER=none"
)


class Retry(NamedTuple):
    """How often one request is tried, and how long the pauses between attempts are."""

    attempts: int = 8
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0

    def pause_s(self, failures: int, chance: float) -> float:
        """Return the pause after `failures` in a row: twice the last, 20 % more or less by `chance` (0 to 1)."""
        exponent = min(failures - 1, self.attempts)
        return min(self.first_pause_s * 2.0**exponent, self.longest_pause_s) * (0.8 + 0.4 * chance)


class DeliveryCounts(NamedTuple):
    """Spans by what became of them: taken; refused or given up; never sent, for want of room or time."""

    sent: int = 0
    failed: int = 0
    dropped: int = 0


class Delivery:
    """Delivers payloads in order, one request at a time.

    `clock`, `wait` (which a closing delivery cuts short), `sleep` and `chance` are there for tests to replace.
    """

    def __init__(
        self,
        transport: Transport,
        timeout_s: float,
        *,
        backlog: Backlog | None = None,
        retry: Retry | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._timeout_s = timeout_s
        self._backlog = backlog or Backlog()
        self._retry = retry or Retry()
        self._clock = clock
        self._closing = threading.Event()
        self._wait = wait or self._closing.wait
        self._sleep = sleep
        self._chance = chance
        self._complaints = Complaints(clock)
        self._deadline_s = float("inf")
        self._failures = 0
        self._offered = self._sent = self._failed = self._lost = 0
        self._thread = threading.Thread(target=self.run, name="tritonscope-delivery", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def offer(self, payload: Payload) -> None:
        """Take `payload` for delivery; never blocks."""
        self._offered += payload.spans
        self._backlog.put(payload)

    def counts(self) -> DeliveryCounts:
        """Return what became of the spans so far."""
        return DeliveryCounts(self._sent, self._failed, self._backlog.dropped_spans + self._lost)

    def close(self, within_s: float) -> DeliveryCounts:
        """Send what is left, for `within_s` seconds at most, and return the final counts."""
        self._deadline_s = self._clock() + within_s
        self._closing.set()
        self._backlog.close()
        if self._thread.ident is not None:
            self._thread.join(within_s)
        self._transport.close()
        self._backlog.drop_all()
        # A request that is still under way now counts as lost, whatever its receiver made of it.
        self._lost = self._offered - self._sent - self._failed - self._backlog.dropped_spans
        return self.counts()

    def run(self) -> None:
        """Send until the backlog is closed and empty, or time is up."""
        while (payload := self._backlog.take()) is not None:
            if not self._deliver(payload):
                self._backlog.drop_all()

    def _deliver(self, payload: Payload) -> bool:
        """Send one request, again if need be; return False when there is no time for any more."""
        for _ in range(self._retry.attempts):
            answer = self._send(payload)
            if answer.fate is Fate.ACCEPTED:
                self._note_accepted(payload, answer)
                return True
            if answer.fate is Fate.REFUSED:
                self._give_up(payload, answer)
                return True
            self._failures += 1
            self._complaints.say(f"no spans reach {self._transport.where} ({answer.reason}): {_WAY_OUT}")
            if not self._pause(answer):
                self._failed += payload.spans
                return False
        self._give_up(payload, answer)
        return True

    def _send(self, payload: Payload) -> Answer:
        left_s = self._deadline_s - self._clock()
        try:
            return self._transport.send(payload.body, max(min(self._timeout_s, left_s), _SHORTEST_TIMEOUT_S))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one request, the next ones must go out
            return Answer(Fate.REFUSED, reason=f"{type(error).__name__}: {error}")

    def _note_accepted(self, payload: Payload, answer: Answer) -> None:
        rejected = min(answer.rejected_spans, payload.spans)
        self._sent += payload.spans - rejected
        self._failed += rejected
        if self._failures:
            log.info("spans are delivered again")
        self._failures = 0
        if answer.reason:
            self._complaints.say(f"{self._transport.where} rejected {rejected} spans: {answer.reason}")

    def _give_up(self, payload: Payload, answer: Answer) -> None:
        self._failed += payload.spans
        self._complaints.say(f"{self._transport.where} did not take {payload.spans} spans: {answer.reason}")

    def _pause(self, answer: Answer) -> bool:
        """Wait before the next attempt; return False when there is no time for one.

        A closing delivery gives a receiver that did answer before a second chance, and one that did not none: a
        server without a receiver must not take longer to stop.
        """
        pause_s = answer.retry_after_s
        if pause_s is None:
            pause_s = self._retry.pause_s(self._failures, self._chance())
        if not self._closing.is_set():
            self._wait(pause_s)
            return True
        if self._failures > 1 or self._clock() + pause_s > self._deadline_s:
            return False
        self._sleep(pause_s)
        return True
