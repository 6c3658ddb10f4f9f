"""Turns each call of `execute` into one record in the ring and keeps the scoreboard true."""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any

from msgspec import Raw, msgpack, structs

from tritonscope.probes.clocks import StageClock
from tritonscope.records import (
    BatchRecord,
    Detail,
    InstanceRecord,
    LateRecord,
    LifecycleRecord,
    RequestRecord,
    ResponseRecord,
)
from tritonscope.ring.layout import SUFFIX, State
from tritonscope.ring.writer import RingWriter
from tritonscope.runtime.batch import OpenBatch, closed, opened
from tritonscope.runtime.guard import guarded, report
from tritonscope.runtime.requests import read_requests, read_sequence_requests
from tritonscope.runtime.senders import remember_requests
from tritonscope.runtime.sizes import bytes_of
from tritonscope.runtime.traits import Traits
from tritonscope.settings import Settings

_encode = msgpack.Encoder().encode
_now_ns = time.monotonic_ns
_let_go = guarded(closed)
# The recorders of this process, for a child that it forks.
_all: weakref.WeakSet[Recorder] = weakref.WeakSet()
_IDLE, _EXECUTING = int(State.IDLE), int(State.EXECUTING)


class Recorder:
    """One instance's recorder. Its methods never raise: what goes wrong in them is reported and counted."""

    def __init__(self, writer: RingWriter, traits: Traits, seed: int, settings: Settings) -> None:
        self.traits = traits
        self.seed = seed
        self.sizes = settings.sizes
        self.bridges = settings.otel_bridge
        self._read = read_sequence_requests if traits.sequences else read_requests
        self._writer = writer
        self._scores = writer.scores
        self._sequence = 0
        # An asyncio thread may finish one batch while Triton's thread begins the next.
        self._lock = threading.Lock()
        _all.add(self)

    def begin(self, requests: Sequence[Any]) -> OpenBatch | None:
        """Note that a batch starts; returns None when it cannot be recorded."""
        batch: OpenBatch | None = None
        try:
            records = self._read(requests)
            if self.sizes:
                records = self._measured(requests, records)
            batch = OpenBatch(self, self._sequence, requests, records, _encode(records))
            self._sequence += 1
            opened(batch)
            self._writer.show_batch(batch.sequence, batch.encoded)
            scores = self._scores
            scores.state = _EXECUTING
            scores.batch_size += len(records)
            scores.since_ns = _now_ns()
            self._writer.show_status()
            batch.clock.start()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
            report("begin", error)
            if batch is not None:
                _let_go(batch)
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
            _let_go(batch)

    def add(self, batch: OpenBatch, detail: Detail) -> None:
        """Note something that ended in `batch`, or after it."""
        with self._lock:
            if batch.is_open:
                batch.details.append(detail)
                return
            if isinstance(detail, ResponseRecord) and detail.error:
                self._scores.failures += 1
            self._writer.write(LateRecord(batch.sequence, detail))
            self._writer.show()

    @guarded
    def lifecycle(self, hook: str, clock: StageClock, error: str = "", state: State | None = None) -> None:
        """Note that the hook `hook` of the model has run, and what `state` the instance is in now, if another."""
        clock.stop()
        with self._lock:
            self._writer.write(LifecycleRecord(hook, clock.start_ns, clock.wall_ns, error))
            if state is not None:
                self._scores.state = state
                self._scores.since_ns = time.monotonic_ns()
            self._writer.show()

    @guarded
    def abandon(self) -> None:
        """In a forked child: leave the ring to the parent."""
        self._writer.close()

    def _measured(self, requests: Sequence[Any], records: list[RequestRecord]) -> list[RequestRecord]:
        sizes = (bytes_of(request.inputs(), self.traits.item_bytes) for request in requests)
        return [structs.replace(record, input_bytes=size) for record, size in zip(records, sizes, strict=True)]

    def _finish(self, batch: OpenBatch, responses: Any, error: BaseException | None) -> None:
        clock = batch.clock
        clock.stop()
        if self.traits.decoupled:
            remember_requests(batch)
        answered_errors = _add_outcomes(batch, responses)
        with self._lock:
            closed(batch)
            text = "" if error is None else text_of(error)
            # Encoded already; what Raw stands for is not its type's matter.
            requests: Any = Raw(batch.encoded)
            details = tuple(batch.details)
            self._writer.write(
                BatchRecord(batch.sequence, clock.start_ns, clock.wall_ns, clock.cpu_ns, requests, text, details)
            )
            self._score(batch, clock)
            if error is not None:
                self._scores.failures += len(batch.requests)
            elif answered_errors or details:
                self._scores.failures += _failures(batch)
            self._writer.show()

    def _score(self, batch: OpenBatch, clock: StageClock) -> None:
        scores, size = self._scores, len(batch.requests)
        scores.batch_size -= size
        if not scores.batch_size:
            scores.state = _IDLE
        scores.since_ns = clock.start_ns + clock.wall_ns
        scores.batches += 1
        scores.requests += size
        scores.busy_ns += clock.wall_ns
        if clock.cpu_ns > 0:
            scores.cpu_ns += clock.cpu_ns


def only_recorder() -> Recorder | None:
    """Return this process's recorder, None unless there is exactly one, as in every stub."""
    recorders = list(_all)
    return recorders[0] if len(recorders) == 1 else None


def _abandon_all() -> None:
    for recorder in list(_all):
        recorder.abandon()


os.register_at_fork(after_in_child=_abandon_all)


def open_recorder(instance: InstanceRecord, traits: Traits, settings: Settings) -> Recorder:
    """Create the ring of `instance` and return its recorder.

    Raises:
        OSError: the folder of the rings cannot be used, or has no room.
    """
    name = re.sub(r"[^\w.-]", "_", instance.instance)
    path = settings.directory / f"{name}-{instance.pid}-{os.urandom(3).hex()}{SUFFIX}"
    writer = RingWriter(path, instance, settings.ring_bytes)
    return Recorder(writer, traits, instance.span_seed, settings)


def _add_outcomes(batch: OpenBatch, responses: Any) -> dict[int, str]:
    """Add to the batch's requests their responses' errors and sizes, and their fates; return the errors.

    Triton counts an `InferenceResponse(error=...)` as a success; its sender does not.
    """
    requests, answered = batch.requests, _answered(responses, len(batch.requests))
    errors = _errors(answered)
    sizes = _sizes(batch, answered) if batch.recorder.sizes else {}
    # Mostly nothing came to them since `begin`: what was encoded then goes into the ring as it is.
    if errors or sizes or batch.fates:
        for name, values in (("error", errors), ("output_bytes", sizes), ("fate", batch.fates)):
            for index, value in values.items():
                requests[index] = structs.replace(requests[index], **{name: value})
        batch.encoded = _encode(requests)
    return errors


def _answered(responses: Any, size: int) -> Sequence[Any]:
    """Return what `execute` returned where these are responses; anything else Triton will refuse itself."""
    return responses if isinstance(responses, list) and len(responses) == size else ()


def _errors(responses: Sequence[Any]) -> dict[int, str]:
    try:
        return {
            index: response.error().message()
            for index, response in enumerate(responses)
            if response is not None and response.has_error()
        }
    except AttributeError:
        return {}  # no responses at all


def _sizes(batch: OpenBatch, responses: Sequence[Any]) -> dict[int, int]:
    item_bytes = batch.recorder.traits.item_bytes
    try:
        return {
            index: bytes_of(response.output_tensors(), item_bytes)
            for index, response in enumerate(responses)
            if response is not None
        }
    except AttributeError:
        return {}  # no responses at all


def _failures(batch: OpenBatch) -> int:
    """How many of a batch's requests got an error, returned or sent."""
    failed = {index for index, request in enumerate(batch.requests) if request.error}
    failed |= {detail.request for detail in batch.details if isinstance(detail, ResponseRecord) and detail.error}
    return len(failed)


def text_of(error: BaseException | None) -> str:
    """Return how an exception stands in a record; empty for none."""
    return "" if error is None else f"{type(error).__name__}: {error}"
