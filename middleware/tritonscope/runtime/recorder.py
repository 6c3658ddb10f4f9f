"""Turns each call of `execute` into one record in the ring and keeps the scoreboard true."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from tritonscope.probes.clocks import StageClock
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.layout import SUFFIX, State
from tritonscope.ring.writer import RingWriter
from tritonscope.runtime.guard import report
from tritonscope.runtime.requests import read_request
from tritonscope.settings import Settings

_IDLE, _EXECUTING = int(State.IDLE), int(State.EXECUTING)


class OpenBatch:
    """A batch that `execute` is working on."""

    __slots__ = ("clock", "requests", "sequence")

    def __init__(self, sequence: int, requests: list[RequestRecord]) -> None:
        self.sequence = sequence
        self.requests = requests
        self.clock = StageClock()


class Recorder:
    """One instance's recorder. Its methods never raise: what goes wrong in them is reported and counted."""

    def __init__(self, writer: RingWriter) -> None:
        self._writer = writer
        self._scores = writer.scores
        self._sequence = 0
        # An asyncio thread may finish one batch while Triton's thread begins the next.
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self.abandon)

    def begin(self, requests: Sequence[Any]) -> OpenBatch | None:
        """Note that a batch starts; returns None when it cannot be recorded."""
        try:
            batch = OpenBatch(self._sequence, [read_request(request) for request in requests])
            self._sequence += 1
            scores = self._scores
            scores.state = _EXECUTING
            scores.batch_size += len(requests)
            self._writer.show_status()
            scores.since_ns = batch.clock.start()
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
            self._scores.state = state
            self._scores.since_ns = time.monotonic_ns()
            self._writer.show()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("note", error)

    def abandon(self) -> None:
        """In a forked child: leave the ring to the parent."""
        try:
            self._writer.close()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("abandon", error)

    def _finish(self, batch: OpenBatch, responses: Any, error: BaseException | None) -> None:
        elapsed = batch.clock.stop()
        requests = _with_errors(batch.requests, responses)
        failed = "" if error is None else f"{type(error).__name__}: {error}"
        record = BatchRecord(batch.sequence, *elapsed, tuple(requests), failed)
        with self._lock:
            self._writer.write(record)
            self._score(record)

    def _score(self, record: BatchRecord) -> None:
        scores, size = self._scores, len(record.requests)
        scores.batch_size -= size
        if not scores.batch_size:
            scores.state = _IDLE
        scores.since_ns = record.start_ns + record.wall_ns
        scores.batches += 1
        scores.requests += size
        scores.failures += size if record.error else sum([request.error != "" for request in record.requests])
        scores.busy_ns += record.wall_ns
        scores.cpu_ns += max(record.cpu_ns, 0)
        self._writer.show()


def open_recorder(instance: InstanceRecord, settings: Settings) -> Recorder:
    """Create the ring of `instance` and return its recorder.

    Raises:
        OSError: the folder of the rings cannot be used, or has no room.
    """
    name = re.sub(r"[^\w.-]", "_", instance.instance)
    path = settings.directory / f"{name}-{instance.pid}-{os.urandom(3).hex()}{SUFFIX}"
    return Recorder(RingWriter(path, instance, settings.ring_bytes))


def _with_errors(requests: list[RequestRecord], responses: Any) -> list[RequestRecord]:
    """Return `requests`, each with the error text of its response.

    Triton counts an `InferenceResponse(error=...)` as a success; its sender does not.
    """
    if not isinstance(responses, list) or len(responses) != len(requests):
        return requests
    try:
        failed = [
            index for index, response in enumerate(responses) if response is not None and response.has_error()
        ]
    except AttributeError:
        return requests  # no responses at all: Triton will refuse them itself
    for index in failed:
        requests[index] = structs.replace(requests[index], error=responses[index].error().message())
    return requests
