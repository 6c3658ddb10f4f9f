"""The formulas: values worked out by hand, and bounds that hold for all inputs."""

import math
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.analyze.builders import CPU_1, counted, one_stage, python_stage, serial, whole, window, with_host
from tritonscope.analyze import capacity
from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.limits import ceilings, predict, predict_in_flight, predict_without
from tritonscope.analyze.measured import measure
from tritonscope.evidence import BatchStatistics, ModelStatistics
from tritonscope.repository.stages import Batching, InstanceGroup, Stage

SECOND = 1_000_000_000
FLYING = st.floats(0.1, 500)
ALONE_NS = st.floats(1e4, 1e9)
CEILING = st.floats(0.1, 1e5)


def test_capacity_of_a_batching_stage_with_two_instances_that_is_visited_twice():
    assert capacity.capacity_per_s(2, 4.0, 20e6, 2.0) == pytest.approx(200)


def test_capacity_of_what_takes_no_time_is_no_limit():
    assert capacity.capacity_per_s(1, 1.0, 0.0, 1.0) == math.inf


def test_the_cpu_ceiling_is_reached_when_all_cores_are_busy():
    """Seen: 108.8 requests/s keep 1.35 of 2 cores busy; with two instances there were 166.7."""
    assert capacity.cpu_ceiling_per_s(2, 1.35, 108.8) == pytest.approx(161.2, abs=0.1)


@pytest.mark.parametrize(
    ("flying", "alone_s", "ceiling", "expected"),
    [
        (1, 2.0, 1.0, 0.5),  # alone: nobody waits
        (2, 2.0, 1.0, 0.8),  # R = 1 x (1 + 0.5), X = 2 / (1.5 + 1)
        (3, 2.0, 1.0, 3 / (1 + 0.8 * 1.5 + 1)),
        (5, 1.0, 1.0, 1.0),  # no delay: the queue is always full
        (0.5, 2.0, 1.0, 0.25),
        (1.5, 2.0, 1.0, 0.65),
        (4, 2.0, math.inf, 2.0),
    ],
)
def test_mean_value_analysis_gives_the_textbook_values(flying, alone_s, ceiling, expected):
    assert capacity.closed_loop_per_s(flying, alone_s * SECOND, ceiling) == pytest.approx(expected)


@given(FLYING, ALONE_NS, CEILING)
def test_the_estimate_lies_between_its_bounds(flying, alone_ns, ceiling):
    alone_ns = max(alone_ns, SECOND / ceiling)  # a request cannot be faster than its slowest stage
    estimate = capacity.closed_loop_per_s(flying, alone_ns, ceiling)
    assert estimate <= ceiling * 1.000001
    assert estimate <= capacity.in_flight_ceiling_per_s(flying, alone_ns) * 1.000001
    if flying >= 1:
        assert estimate >= capacity.least_per_s(flying, alone_ns, ceiling) * 0.999999


@given(FLYING, ALONE_NS, CEILING, st.floats(1, 10))
def test_a_higher_ceiling_never_costs_throughput(flying, alone_ns, ceiling, factor):
    before = capacity.closed_loop_per_s(flying, alone_ns, ceiling)
    assert capacity.closed_loop_per_s(flying, alone_ns, ceiling * factor) >= before * 0.999999


@pytest.mark.parametrize(
    ("busy", "expected"), [(0.0, 1), (0.99, 1), (1.01, 1), (1.05, 2), (1.997, 2), (2.03, 2), (2.1, 3)]
)
def test_busy_instances_imply_whole_ones(busy, expected):
    assert capacity.implied_instances(busy, 10e6, 10 * SECOND) == expected


def test_an_execution_that_began_before_a_short_window_implies_no_second_instance():
    assert capacity.implied_instances(1.4, 0.5 * SECOND, SECOND) == 1


EXECUTIONS = st.lists(st.tuples(st.integers(1, 400), st.floats(0.1, 20)), min_size=1, max_size=4)


@given(EXECUTIONS, st.integers(1, 8), st.floats(0.05, 1.0))
def test_a_busy_share_lies_between_nothing_and_all(stages, instances, busiest):
    """However many executions of whatever length fit into the instances of a window."""
    total_ms = max(requests * took_ms for requests, took_ms in stages)
    seconds = total_ms / 1e3 / instances / busiest
    names = [f"stage{number}" for number in range(len(stages))]
    evidence = Evidence(
        serial("pipeline", *(python_stage(name, (InstanceGroup("CPU", instances),)) for name in names)),
        window(
            seconds, whole("pipeline", 100, 5.0),
            *(counted(name, requests, took) for name, (requests, took) in zip(names, stages, strict=True)),
        ),
    )  # fmt: skip
    measured = measure(evidence)
    assert all(0 <= stage.busy <= 1 for stage in measured.stages)
    assert all(stage.instances.count == instances for stage in measured.stages)
    assert max(stage.busy for stage in measured.stages) == pytest.approx(busiest, rel=0.02)


@given(
    st.floats(0.3, 1.0),
    st.floats(0.0, 0.95),
    st.floats(0.2, 1.0),
    st.sampled_from([CPU_1, (InstanceGroup("GPU", 1, (0,)),)]),
)
def test_predictions_never_fall_with_the_count_and_lie_within_their_bounds(busy, queue_share, cpu, groups):
    evidence = with_host(
        one_stage(busy=busy, queue_share=queue_share, stage=python_stage("slow", groups)), 4, 4 * cpu
    )
    measured = measure(evidence)
    effects = [predict(measured, "slow", count) for count in range(1, 6)]
    for fewer, more in pairwise(effects):
        assert more.per_s >= fewer.per_s * 0.999999
        assert more.lower_per_s >= fewer.lower_per_s * 0.999999
        assert more.upper_per_s >= fewer.upper_per_s * 0.999999
    for effect in effects:
        assert effect.lower_per_s <= effect.per_s <= effect.upper_per_s


def test_the_next_ceiling_is_that_of_the_next_stage():
    effect = predict_without(measure(one_stage(busy=1.0, queue_share=0.95)), "slow")
    assert effect.binds_next == "fast"
    assert effect.lower_per_s >= effect.now_per_s


def test_nothing_is_known_behind_the_only_stage():
    stage = python_stage("only")
    evidence = Evidence(serial("only", stage), window(1, counted("only", 99, 10, queue_ms=40)))
    assert predict_without(measure(evidence), "only") is None


def test_more_requests_in_flight_buy_no_more_than_the_ceiling():
    measured = measure(one_stage(busy=0.5, queue_share=0.0))
    assert predict_in_flight(measured, 50).upper_per_s <= 105
    assert predict_in_flight(measured, 50).per_s > predict_in_flight(measured, 1).per_s


class TestBatchesThatMayGrow:
    """A stage that batches and is not full: its capacity of now is a lower bound."""

    MODEL = python_stage("model", max_batch_size=4, batching=Batching())

    def ceiling(self, stage: Stage, counters: ModelStatistics):
        evidence = Evidence(serial("pipeline", stage), window(10, whole("pipeline", 200, 50), counters))
        return ceilings(measure(evidence)._replace(in_flight=8))[0]

    def test_at_most_they_cost_no_time(self):
        ceiling = self.ceiling(self.MODEL, counted("model", 200, 10))
        assert ceiling.per_s == pytest.approx(100)
        assert ceiling.upper_per_s == pytest.approx(4 * 100 * 1.05)

    def test_without_dynamic_batching_they_do_not_grow(self):
        ceiling = self.ceiling(self.MODEL._replace(batching=None), counted("model", 200, 10))
        assert ceiling.upper_per_s == pytest.approx(100 * 1.05)

    def test_what_is_likely_follows_from_the_sizes_that_were_seen(self):
        """8 ms and 2 ms for each element: a batch of 4 takes 16 ms, which is 250/s."""
        counters = counted("model", 200, 0, executions=150)
        sizes = (BatchStatistics(1, 100, 0, 100 * 10_000_000, 0), BatchStatistics(2, 50, 0, 50 * 12_000_000, 0))
        ceiling = self.ceiling(self.MODEL, msgspec.structs.replace(counters, batches=sizes))
        assert ceiling.per_s == pytest.approx(250)


@given(st.integers(1_000, 10**8), st.integers(1_000, 10**7), st.sets(st.integers(1, 64), min_size=2, max_size=5))
def test_execution_time_by_batch_size_is_recovered(fixed_ns, each_ns, sizes):
    batches = tuple(
        BatchStatistics(size, 20 + size, 0, (fixed_ns + each_ns * size) * (20 + size), 0) for size in sizes
    )
    fit = capacity.execution_by_batch(msgspec.structs.replace(counted("m", 1, 1), batches=batches))
    assert fit == pytest.approx((fixed_ns, each_ns), rel=1e-6, abs=1)


@pytest.mark.parametrize(
    "sizes",
    [
        [(1, 100, 10)],  # one size
        [(1, 100, 10), (2, 19, 12)],  # the other one too rare
        [(1, 100, 10), (2, 100, 25)],  # an offset below nothing
        [(1, 100, 10), (2, 100, 9)],  # faster with more to do
    ],
)
def test_too_little_or_contradictory_sizes_fit_nothing(sizes):
    batches = tuple(
        BatchStatistics(size, count, 0, count * took_ms * 1_000_000, 0) for size, count, took_ms in sizes
    )
    assert capacity.execution_by_batch(msgspec.structs.replace(counted("m", 1, 1), batches=batches)) is None
