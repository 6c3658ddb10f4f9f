"""The queue in front of a model's instances, and how requests in it become batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from typing import NamedTuple

from tritonscope.testing.config import Config
from tritonscope.testing.traffic import Call


class BatchPolicy(NamedTuple):
    """How large a batch may be, at which size it need not wait, and how long it may wait for that."""

    max_batch_size: int
    sufficient: int
    delay_ns: int


def batch_policy(config: Config) -> BatchPolicy:
    """Return the policy of a model: batches form only where dynamic or sequence batching is configured."""
    largest = int(config.get("max_batch_size", 0))
    dynamic = config.get("dynamic_batching")
    if dynamic is None:
        return BatchPolicy(largest, 1, 0)
    preferred = dynamic.get("preferred_batch_size") or [max(largest, 1)]
    return BatchPolicy(largest, max(preferred), int(dynamic.get("max_queue_delay_microseconds", 0)) * 1000)


class BatchQueue:
    """Requests wait here, first come first served; instances take batches."""

    def __init__(self, policy: BatchPolicy, *, one_per_sequence: bool = False) -> None:
        self._policy = policy
        self._one_per_sequence = one_per_sequence
        self._changed = threading.Condition()
        self._pending: list[Call] = []
        self._closed = False

    def put(self, call: Call) -> bool:
        """Queue a request; False once the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._pending.append(call)
            self._changed.notify()
            return True

    def put_back(self, calls: tuple[Call, ...]) -> None:
        """Queue requests again that were taken already, before all others."""
        with self._changed:
            self._pending[:0] = calls
            self._changed.notify()

    def take(self) -> list[Call]:
        """Return the next batch as soon as it may be executed; empty once the queue is closed and empty."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._pending or self._closed)
                if not self._pending:
                    return []
                wait_ns = self._must_wait_ns()
                if wait_ns <= 0:
                    break
                self._changed.wait(wait_ns / 1e9)
            batch = self._next_batch()
            self._pending = [call for call in self._pending if call not in batch]
            if self._pending:
                self._changed.notify()
            return batch

    def close(self) -> None:
        """Take no further request; those that wait are still executed."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _must_wait_ns(self) -> int:
        batch = self._next_batch()
        size = sum(call.batch_size(self._policy.max_batch_size) for call in batch)
        # A request that no longer fits ends the batch: to wait longer could not make it larger.
        if size >= self._policy.sufficient or len(batch) < len(self._pending) or self._closed:
            return 0
        return self._policy.delay_ns - (time.monotonic_ns() - batch[0].queued_ns)

    def _next_batch(self) -> list[Call]:
        batch = [self._pending[0]]
        size = batch[0].batch_size(self._policy.max_batch_size)
        for call in self._pending[1:]:
            size += call.batch_size(self._policy.max_batch_size)
            if size > self._largest() or _shape(call) != _shape(batch[0]):
                break
            if not self._one_per_sequence or call.correlation_id not in {each.correlation_id for each in batch}:
                batch.append(call)
        return batch

    def _largest(self) -> int:
        policy = self._policy
        return policy.max_batch_size if policy.delay_ns == 0 and policy.sufficient > 1 else policy.sufficient


def _shape(call: Call) -> Hashable:
    return tuple((name, array.shape[1:]) for name, array in sorted(call.inputs.items()))
