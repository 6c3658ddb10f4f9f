"""Turns each call of `execute` into one record in the ring and keeps the scoreboard true."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from typing import Any

from tritonscope.probes.clocks import StageClock
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.layout import SUFFIX, State, Word
from tritonscope.ring.writer import RingWriter
from tritonscope.runtime.guard import report
from tritonscope.runtime.requests import read_request
from tritonscope.settings import Settings

_STATE, _SINCE, _SIZE = int(Word.STATE), int(Word.SINCE_NS), int(Word.BATCH_SIZE)
_BATCHES, _REQUESTS, _FAILURES = int(Word.BATCHES), int(Word.REQUESTS), int(Word.FAILURES)
_BUSY, _CPU = int(Word.BUSY_NS), int(Word.CPU_NS)
_IDLE, _EXECUTING = int(State.IDLE), int(State.EXECUTING)


class OpenBatch:
    """A batch that `execute` is working on."""

    __slots__ = ("clock", "requests", "sequence", "thread")

    def __init__(self, sequence: int, requests: list[tuple[str, str, str]]) -> None:
        self.sequence = sequence
        self.requests = requests
        self.thread = threading.get_ident()
        self.clock = StageClock()


class Recorder:
    """One instance's recorder. Its methods never raise: what goes wrong in them is reported and counted."""

    def __init__(self, writer: RingWriter) -> None:
        self._writer = writer
        self._words = writer.words
        self._sequence = 0
        # An asyncio thread may finish one batch while Triton's thread begins the next.
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self.abandon)

    def begin(self, requests: Sequence[Any]) -> OpenBatch | None:
        """Note that a batch starts; returns None when it cannot be recorded."""
        try:
            batch = OpenBatch(self._sequence, [read_request(request) for request in requests])
            self._sequence += 1
            words = self._words
            words[_STATE] = _EXECUTING
            words[_SIZE] += len(requests)
            words[_SINCE] = batch.clock.start()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("begin", error)
            return None
        return batch

    def finish(self, batch: OpenBatch | None, responses: Any, error: BaseException | None) -> None:
        """Note that the batch ended, with the responses that it returned or the exception that it raised."""
        if batch is None:
            return
        try:
            self._finish(batch, responses, error)
        except Exception as mistake:  # noqa: BLE001 - nothing of ours may reach the model
            report("finish", mistake)

    def note(self, state: State) -> None:
        """Show `state` on the scoreboard."""
        try:
            self._words[_STATE] = state
            self._words[_SINCE] = time.monotonic_ns()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("note", error)

    def abandon(self) -> None:
        """In a forked child: leave the ring to the parent."""
        try:
            self._writer.close()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("abandon", error)

    def _finish(self, batch: OpenBatch, responses: Any, error: BaseException | None) -> None:
        elapsed = batch.clock.stop(same_thread=batch.thread == threading.get_ident())
        errors = _response_errors(responses, len(batch.requests))
        record = BatchRecord(
            batch.sequence,
            elapsed.start_ns,
            elapsed.wall_ns,
            elapsed.cpu_ns,
            tuple([RequestRecord(*head, failure) for head, failure in zip(batch.requests, errors, strict=True)]),
            "" if error is None else f"{type(error).__name__}: {error}",
        )
        with self._lock:
            self._score(record)
            self._writer.write(record)

    def _score(self, record: BatchRecord) -> None:
        words, size = self._words, len(record.requests)
        words[_SIZE] -= size
        if not words[_SIZE]:
            words[_STATE] = _IDLE
        words[_SINCE] = record.start_ns + record.wall_ns
        words[_BATCHES] += 1
        words[_REQUESTS] += size
        words[_FAILURES] += size if record.error else sum(1 for request in record.requests if request.error)
        words[_BUSY] += record.wall_ns
        words[_CPU] += max(record.cpu_ns, 0)


def open_recorder(instance: InstanceRecord, settings: Settings) -> Recorder:
    """Create the ring of `instance` and return its recorder.

    Raises:
        OSError: the folder of the rings cannot be used, or has no room.
    """
    name = re.sub(r"[^\w.-]", "_", instance.instance)
    path = settings.directory / f"{name}-{instance.pid}-{os.urandom(3).hex()}{SUFFIX}"
    return Recorder(RingWriter(path, instance, settings.ring_bytes))


def _response_errors(responses: Any, size: int) -> list[str]:
    """Return each request's error text, empty where there is none.

    Triton counts an `InferenceResponse(error=...)` as a success; its sender does not.
    """
    if not isinstance(responses, list) or len(responses) != size:
        return [""] * size
    return [
        response.error().message() if response is not None and response.has_error() else ""
        for response in responses
    ]
