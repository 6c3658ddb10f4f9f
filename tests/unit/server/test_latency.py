"""Percentiles are exact: values that were seen, at the nearest rank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.server.latency import percentile, summarize

latencies = st.lists(st.integers(min_value=1, max_value=10**12), min_size=1, max_size=300)


@given(latencies, st.integers(min_value=1, max_value=100))
def test_percentile_is_the_least_value_that_covers_its_share(values, percent):
    ordered = sorted(values)
    found = percentile(ordered, percent)
    assert found in ordered
    assert 100 * sum(value <= found for value in ordered) >= percent * len(ordered)
    assert 100 * sum(value < found for value in ordered) < percent * len(ordered)


@pytest.mark.parametrize(("percent", "expected"), [(50, 50), (90, 90), (99, 99), (100, 100), (1, 1)])
def test_percentiles_of_one_to_a_hundred(percent, expected):
    assert percentile(range(1, 101), percent) == expected


def test_report_does_not_depend_on_the_order():
    report = summarize("m", 2_000_000_000, [30, 10, 20], 1, concurrency=4, first_error="e")
    assert (report.requests, report.failures, report.latency_mean_ns, report.latency_max_ns) == (3, 1, 20, 30)
    assert report.latency_p50_ns == 20
    assert report.throughput_per_s == 1.5


def test_nothing_that_succeeded_is_reported_as_zeros():
    report = summarize("m", 10, [], 5, rate_per_s=3)
    assert (report.requests, report.failures, report.latency_p99_ns, report.latency_max_ns) == (0, 5, 0, 0)
