"""One ring that is being read: what came out of it, and whether its stub has ended."""

from __future__ import annotations

import time
from contextlib import suppress

from tritonscope.agent.counters import AgentCounters
from tritonscope.agent.tracer import InstanceTracer
from tritonscope.records import BatchRecord, Event, InstanceRecord, RequestRecord
from tritonscope.ring.layout import RingFormatError, Scoreboard, State
from tritonscope.ring.reader import RingReader
from tritonscope.settings import log

READ_LIMIT = 1024


class Source:
    """A ring and the tracer of its instance (None: no spans are made)."""

    def __init__(self, reader: RingReader, tracer: InstanceTracer | None) -> None:
        self._reader = reader
        self._batches = self._requests = self._drops = self._damages = self._deaths = 0
        self.tracer = tracer

    @property
    def instance(self) -> InstanceRecord:
        """Whose ring it is."""
        return self._reader.instance

    def read(self) -> list[Event]:
        """Return up to `READ_LIMIT` new events."""
        events = self._reader.read(READ_LIMIT)
        self._count(events)
        return events

    def has_ended(self) -> bool:
        """Whether the stub is gone and all that it wrote has been read."""
        if self._reader.writer_alive():
            return False
        score = self._look()
        return score.read_bytes >= score.written_bytes

    def last_words(self) -> list[Event]:
        """Return the batch that a stub took along when it died at work, as one that failed now."""
        score = self._look()
        if score.state is not State.EXECUTING:
            return []
        sequence, requests = self._reader.in_flight()
        name = self.instance.instance
        log.warning("%s (process %d) ended in the middle of a batch of %d", name, score.pid, score.batch_size)
        self._deaths += 1
        batch = BatchRecord(
            sequence,
            score.since_ns,
            max(time.monotonic_ns() - score.since_ns, 0),
            -1,
            requests or (RequestRecord(),) * score.batch_size,
            f"StubDied: process {score.pid} of {name} ended in the middle of this batch",
        )
        self._count([batch])
        return [batch]

    def _count(self, events: list[Event]) -> None:
        batches = [event for event in events if isinstance(event, BatchRecord)]
        self._batches += len(batches)
        self._requests += sum(len(batch.requests) for batch in batches)

    def counters(self) -> AgentCounters:
        """Return this ring's part of the agent's counters."""
        # A damaged file must not take along what was counted before.
        with suppress(RingFormatError, OSError):
            self._look()
        return AgentCounters(
            spans_unsampled=self.tracer.unsampled if self.tracer else 0,
            batches=self._batches,
            requests=self._requests,
            records_dropped=self._drops,
            damages=self._damages,
            stubs_died=self._deaths,
            rings=1,
        )

    def close(self) -> None:
        """Let go of the file; what was read counts as read."""
        self._reader.close()

    def _look(self) -> Scoreboard:
        score = self._reader.scoreboard()
        self._drops, self._damages = score.drops, score.corrupt
        return score
