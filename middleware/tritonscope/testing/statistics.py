"""Counters of one model, kept as Triton keeps them and given out as the analyzer's ModelStatistics."""

from __future__ import annotations

import threading
from typing import NamedTuple

from tritonscope.evidence import BatchStatistics, ModelStatistics


class Times(NamedTuple):
    """What one execution took, in nanoseconds."""

    input_ns: int = 0
    infer_ns: int = 0
    output_ns: int = 0

    def plus(self, other: Times) -> Times:
        """Return the sums."""
        return Times(*(a + b for a, b in zip(self, other, strict=True)))


NO_TIMES = Times()


class RequestTimes(NamedTuple):
    """What one successful request took; `times` is those of its whole batch."""

    request_ns: int
    queue_ns: int
    times: Times = NO_TIMES


class Counters:
    """Counts requests and executions of one version of a model."""

    def __init__(self, model: str, version: int) -> None:
        self._model, self._version = model, version
        self._lock = threading.Lock()
        self._inferences = self._executions = self._requests = self._failures = 0
        self._request_ns = self._queue_ns = 0
        self._times = Times()
        self._batches: dict[int, tuple[int, Times]] = {}

    def count_request(self, took: RequestTimes, elements: int = 1) -> None:
        """Count a request that succeeded, with its batch's times: each request of a batch adds them all."""
        with self._lock:
            self._requests += 1
            self._inferences += elements
            self._request_ns += took.request_ns
            self._queue_ns += took.queue_ns
            self._times = self._times.plus(took.times)

    def count_execution(self, batch_size: int, times: Times) -> None:
        """Count a call of the model once, whatever number of requests it held."""
        with self._lock:
            self._executions += 1
            executions, sums = self._batches.get(batch_size, (0, Times()))
            self._batches[batch_size] = executions + 1, sums.plus(times)

    def count_failure(self) -> None:
        """Count a request that failed."""
        with self._lock:
            self._failures += 1

    def read(self) -> ModelStatistics:
        """Return the counters now."""
        with self._lock:
            batches = tuple(
                BatchStatistics(size, executions, *times)
                for size, (executions, times) in sorted(self._batches.items())
            )
            return ModelStatistics(
                self._model, str(self._version), self._inferences, self._executions, self._requests, self._failures,
                self._request_ns, self._queue_ns, *self._times, batches=batches,
            )  # fmt: skip
