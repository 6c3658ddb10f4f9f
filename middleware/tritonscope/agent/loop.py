"""The agent's work: each round reads all rings once and passes what they hold to the exporter and the run file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from tritonscope.agent.counters import AgentCounters
from tritonscope.agent.delivery import Delivery
from tritonscope.agent.folder import RingFolder
from tritonscope.agent.recording import Recording
from tritonscope.agent.sampling import Sampler
from tritonscope.agent.source import READ_LIMIT, Source
from tritonscope.agent.tracer import InstanceTracer
from tritonscope.errors import RingDirectoryError
from tritonscope.records import Event
from tritonscope.ring.layout import RingFormatError
from tritonscope.ring.reader import RingReader

FINISH_S = 5.0
# Of these, the time for reading, and what delivery gets at least.
_DRAIN_S = 1.0
_DELIVER_S = 1.0
# What a file can do to its reader. None of it may end the agent.
_DAMAGE = (RingFormatError, OSError, msgspec.MsgspecError)


class Tracing(NamedTuple):
    """What spans need besides records: the host's resource, the sampler and the way out."""

    host: Mapping[str, str | int]
    sampler: Sampler
    delivery: Delivery


class Agent:
    """Reads the rings of a folder. Only one agent may read a folder: see `FolderLock`.

    Without `tracing` no spans are made, without `recording` nothing is saved.
    """

    def __init__(
        self,
        directory: Path,
        tracing: Tracing | None = None,
        recording: Recording | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = RingFolder(directory)
        self._tracing = tracing
        self._recording = recording
        self._clock = clock
        self._sources: dict[Path, Source] = {}
        self._past = AgentCounters()

    def run(self, wait: Callable[[float], bool], poll_s: float, idle_s: float | None = None) -> None:
        """Poll until `wait` (pause for so many seconds) returns True, or no record has come for `idle_s` seconds.

        Raises:
            RingDirectoryError: the folder cannot be read.
        """
        last_record_s = self._clock()
        while True:
            most = self.poll()
            if most:
                last_record_s = self._clock()
            elif idle_s is not None and self._clock() - last_record_s >= idle_s:
                return
            # A ring that gave all that one read may return holds more.
            if wait(0.0 if most == READ_LIMIT else poll_s):
                return

    def poll(self) -> int:
        """Read each ring once; return the number of records that the fullest of them gave.

        Raises:
            RingDirectoryError: the folder cannot be read.
        """
        for reader in self._folder.discover():
            self._sources[reader.path] = self._open(reader)
        # Measured anew each time: the wall clock may have been set since.
        offset_ns = time.time_ns() - time.monotonic_ns()
        most = max((self._serve(path, offset_ns) for path in [*self._sources]), default=0)
        if most and self._recording:
            self._recording.flush()
        return most

    def finish(self, within_s: float = FINISH_S) -> AgentCounters:
        """Read what is left, send it, and return the final counters; all in about `within_s` seconds."""
        begun_s = self._clock()
        # A folder that is gone has nothing left to read, but what was read must still go out.
        with suppress(RingDirectoryError):
            while self.poll() and self._clock() < begun_s + _DRAIN_S:
                pass
        for path in [*self._sources]:
            self._retire(path).close()
        if self._recording:
            self._recording.close()
        if self._tracing:
            self._tracing.delivery.close(max(begun_s + within_s - self._clock(), _DELIVER_S))
        return self.counters()

    def counters(self) -> AgentCounters:
        """Return what was done so far."""
        total = self._past
        for source in self._sources.values():
            total = total.plus(source.counters())
        if self._tracing is None:
            return total
        sent, failed, dropped = self._tracing.delivery.counts()
        return total._replace(spans_sent=sent, spans_failed=failed, spans_dropped=dropped)

    def _open(self, reader: RingReader) -> Source:
        if self._recording:
            self._recording.begin(reader.instance)
        tracing = self._tracing
        tracer = InstanceTracer(reader.instance, tracing.host, tracing.sampler) if tracing else None
        return Source(reader, tracer)

    def _serve(self, path: Path, offset_ns: int) -> int:
        """Read one ring, pass its records on, and remove it if it has ended."""
        source = self._sources[path]
        try:
            records = source.read()
            ended = not records and source.has_ended()
        except _DAMAGE as error:
            self._retire(path).close()
            self._folder.skip(path, str(error))
            return 0
        if ended:
            records = source.last_words()
        if records:
            self._pass_on(source, records, offset_ns)
        if ended:
            self._remove(path)
        return len(records)

    def _pass_on(self, source: Source, records: list[Event], offset_ns: int) -> None:
        if self._recording:
            self._recording.add(source.instance, records)
        if self._tracing and source.tracer:
            for payload in source.tracer.trace(records, offset_ns):
                self._tracing.delivery.offer(payload)

    def _remove(self, path: Path) -> None:
        self._retire(path).close()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._folder.skip(path, f"its stub has ended, and it cannot be removed: {error.strerror}")
        else:
            self._past = self._past.plus(AgentCounters(rings_removed=1))

    def _retire(self, path: Path) -> Source:
        source = self._sources.pop(path)
        self._past = self._past.plus(source.counters())
        return source
