"""How waiting requests become batches."""

from __future__ import annotations

import numpy as np

from tritonscope.testing.batching import BatchPolicy, BatchQueue, batch_policy
from tritonscope.testing.traffic import Call

HOUR_NS = 3600 * 10**9


def call(size: int = 1, width: int = 1, sequence: int = 0) -> Call:
    return Call("m", {"X": np.zeros((size, width))}, lambda _answer, _final: None, correlation_id=sequence)


def sizes(queue: BatchQueue) -> list[int]:
    return [each.batch_size(8) for each in queue.take()]


def filled(policy: BatchPolicy, *calls: Call, one_per_sequence: bool = False) -> BatchQueue:
    queue = BatchQueue(policy, one_per_sequence=one_per_sequence)
    for each in calls:
        queue.put(each)
    return queue


def test_without_dynamic_batching_every_request_is_a_batch() -> None:
    queue = filled(batch_policy({"max_batch_size": 8}), call(), call())

    assert [sizes(queue), sizes(queue)] == [[1], [1]]


def test_dynamic_batching_takes_what_fits() -> None:
    policy = batch_policy({"max_batch_size": 4, "dynamic_batching": {}})
    queue = filled(policy, call(2), call(1), call(2))

    assert [sizes(queue), sizes(queue)] == [[2, 1], [2]]


def test_a_sufficient_batch_does_not_wait_for_the_delay() -> None:
    queue = filled(BatchPolicy(8, 3, HOUR_NS), call(), call(), call(), call())

    assert sizes(queue) == [1, 1, 1]


def test_a_request_that_no_longer_fits_ends_the_wait() -> None:
    queue = filled(BatchPolicy(4, 4, HOUR_NS), call(3), call(2))

    assert sizes(queue) == [3]


def test_requests_of_other_shapes_are_another_batch() -> None:
    queue = filled(BatchPolicy(8, 8, 0), call(), call(width=2), call())

    assert [sizes(queue), sizes(queue), sizes(queue)] == [[1], [1], [1]]


def test_a_batch_holds_one_request_of_a_sequence() -> None:
    queue = filled(
        BatchPolicy(8, 8, 0), call(sequence=1), call(sequence=1), call(sequence=2), one_per_sequence=True
    )

    assert [each.correlation_id for each in queue.take()] == [1, 2]
    assert [each.correlation_id for each in queue.take()] == [1]


def test_requests_put_back_come_first() -> None:
    again = call(1, sequence=7)
    queue = filled(BatchPolicy(8, 1, 0), call())

    queue.put_back((again,))

    assert queue.take() == [again]


def test_a_closed_queue_gives_what_it_has_and_takes_nothing() -> None:
    queue = filled(BatchPolicy(8, 8, HOUR_NS), call())
    queue.close()

    assert not queue.put(call())
    assert (sizes(queue), sizes(queue)) == ([1], [])


def test_preferred_sizes_and_delay_come_from_the_configuration() -> None:
    dynamic = {"preferred_batch_size": [2, 4], "max_queue_delay_microseconds": 100}

    assert batch_policy({"max_batch_size": 8, "dynamic_batching": dynamic}) == BatchPolicy(8, 4, 100_000)
