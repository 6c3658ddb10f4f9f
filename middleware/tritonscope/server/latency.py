"""From single latencies to a report: exact percentiles of recorded integers, no histogram."""

from __future__ import annotations

from collections.abc import Sequence

from tritonscope.evidence import LoadReport


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the smallest of `ordered` (ascending) that at least `percent` % of them do not exceed; 0 of nothing.

    This is the nearest-rank percentile: always a value that was seen.
    """
    if not ordered:
        return 0
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(rank, 1) - 1]


def summarize(
    model: str,
    window_ns: int,
    latencies_ns: Sequence[int],
    failures: int,
    *,
    concurrency: int = 0,
    rate_per_s: float = 0.0,
    first_error: str = "",
) -> LoadReport:
    """Return the report on a window in which requests succeeded with `latencies_ns`, in any order."""
    ordered = sorted(latencies_ns)
    return LoadReport(
        model=model,
        window_ns=window_ns,
        requests=len(ordered),
        failures=failures,
        latency_mean_ns=sum(ordered) // max(len(ordered), 1),
        latency_p50_ns=percentile(ordered, 50),
        latency_p90_ns=percentile(ordered, 90),
        latency_p95_ns=percentile(ordered, 95),
        latency_p99_ns=percentile(ordered, 99),
        latency_max_ns=ordered[-1] if ordered else 0,
        concurrency=concurrency,
        rate_per_s=rate_per_s,
        first_error=first_error,
    )
