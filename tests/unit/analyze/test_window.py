"""Differences of samples: what happened in between, and what to make of counters that began anew."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.analyze.builders import counted, never_counted
from tritonscope.analyze.window import between, grown, host_between, one_life, with_traffic
from tritonscope.evidence import BatchStatistics, HostSample, ModelStatistics, StatisticsSample

NUMBERS = st.integers(0, 1 << 50)
BATCHES = st.dictionaries(st.integers(1, 8), st.tuples(*[NUMBERS] * 4), max_size=3).map(
    lambda sizes: tuple(BatchStatistics(size, *values) for size, values in sorted(sizes.items()))
)
COUNTERS = st.builds(ModelStatistics, st.just("m"), st.just("1"), *[NUMBERS] * 10, BATCHES)


def added(one: ModelStatistics, other: ModelStatistics) -> ModelStatistics:
    sums = {
        name: getattr(one, name) + getattr(other, name)
        for name in ModelStatistics.__struct_fields__
        if name not in {"model", "version", "batches"}
    }
    sizes = {batch.batch_size: batch for batch in one.batches}
    for batch in other.batches:
        before = sizes.get(batch.batch_size)
        values = [getattr(batch, name) for name in BatchStatistics.__struct_fields__[1:]]
        earlier = [getattr(before, name) for name in BatchStatistics.__struct_fields__[1:]] if before else [0] * 4
        sizes[batch.batch_size] = BatchStatistics(batch.batch_size, *map(sum, zip(values, earlier, strict=True)))
    return msgspec.structs.replace(one, **sums, batches=tuple(sizes[size] for size in sorted(sizes)))


def sample(taken_s: float, *models: ModelStatistics) -> StatisticsSample:
    return StatisticsSample(round(taken_s * 1e9), models)


@given(COUNTERS, COUNTERS)
def test_the_difference_undoes_what_was_added(before, growth):
    difference = grown(before, added(before, growth))
    grew = tuple(batch for batch in difference.batches if batch != BatchStatistics(batch.batch_size, 0, 0, 0, 0))
    expected = tuple(batch for batch in growth.batches if batch != BatchStatistics(batch.batch_size, 0, 0, 0, 0))
    assert msgspec.structs.replace(difference, batches=grew) == msgspec.structs.replace(growth, batches=expected)


@given(COUNTERS)
def test_a_counter_that_shrank_is_a_model_that_was_loaded_anew(counters):
    more = msgspec.structs.replace(counters, queue_ns=counters.queue_ns + 1)
    assert grown(more, counters) is None
    window = between(sample(1, more), sample(2, counters))
    assert (window.reloaded, dict(window.models)) == ({"m"}, {})


def test_a_model_that_was_loaded_in_between_counts_from_zero():
    window = between(sample(1), sample(3, counted("m", 5, 1.0)))
    assert (window.of("m").requests, window.duration_ns) == (5, 2_000_000_000)


def test_a_step_takes_the_newest_version_or_the_one_it_names():
    versions = [
        msgspec.structs.replace(counted("m", int(number), 1.0), version=number) for number in ("2", "10", "9")
    ]
    window = between(sample(0), sample(1, *versions))
    assert [window.of("m", version).requests for version in (-1, 9)] == [10, 9]
    assert window.of("m", 3) is None
    assert window.of("other") is None


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([1, 1, 4, 9, 9, 9], [1, 4, 9]),
        ([3, 4], [3, 4]),
        ([5, 5, 5], [5, 5, 5]),
        ([7], [7]),
        ([], []),
    ],
)
def test_idle_time_before_and_after_the_load_is_left_out(counts, expected):
    samples = [sample(number, counted("m", count, 1.0)) for number, count in enumerate(counts)]
    assert [entry.models[0].requests for entry in with_traffic(samples, "m")] == expected


def test_samples_before_the_last_start_of_the_server_are_left_out():
    samples = [sample(number, counted("m", count, 1.0)) for number, count in enumerate([5, 9, 2, 6])]
    assert [entry.models[0].requests for entry in one_life(samples, "m")] == [2, 6]
    assert one_life([sample(9), sample(1), sample(2)], "m") == [sample(1), sample(2)]
    assert one_life([], "m") == []


def test_a_model_that_does_nothing_does_not_end_the_others_life():
    samples = [
        sample(0, counted("m", 1, 1.0), counted("n", 9, 1.0)),
        sample(1, counted("m", 2, 1.0), never_counted("n")),
    ]
    assert one_life(samples, "m") == samples


def test_busy_cores_are_cpu_time_over_time():
    window = host_between(HostSample(0, 4, 10), HostSample(1_000, 4, 1_510))
    assert (window.cores, window.busy_cores) == (4, 1.5)


@pytest.mark.parametrize("after", [HostSample(0, 4, 20), HostSample(5, 4, 9)])
def test_host_samples_out_of_order_make_no_window(after):
    assert host_between(HostSample(0, 4, 10), after) is None
