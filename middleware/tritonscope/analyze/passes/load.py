"""Passes for a pipeline that no stage holds: where its limit would be, and whether the client keeps it below."""

from __future__ import annotations

import math

from tritonscope.analyze.capacity import NS_PER_S
from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.facts import (
    ceiling_facts,
    host_facts,
    in_flight_fact,
    outside_facts,
    stage_facts,
    throughput_fact,
)
from tritonscope.analyze.findings import Fact, Finding, Severity
from tritonscope.analyze.limits import ceilings, cpu_is_full, describe_crowd, find_limits, predict_in_flight
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage, measure

_MOSTLY = 0.5


def no_throttle(evidence: Evidence) -> list[Finding]:
    """Say that no stage is at its limit, which one would be first, and at what load."""
    measured = measure(evidence)
    if measured is None or not measured.stages or find_limits(measured).stages:
        return []
    busiest = max(measured.stages, key=lambda stage: stage.busy)
    full = cpu_is_full(measured.host)
    return [
        Finding(
            rule="no-throttle",
            model=busiest.name,
            severity=Severity.CRITICAL if full else Severity.INFO,
            title=_no_throttle_title(measured, busiest, full=full),
            evidence=(
                *stage_facts(busiest),
                throughput_fact(measured),
                in_flight_fact(measured),
                *outside_facts(measured),
                *host_facts(measured),
            ),
            advice=_where_it_would_be(measured),
        )
    ]


def client_bound(evidence: Evidence) -> list[Finding]:
    """Say that the client keeps too few requests in flight, or spends the time itself."""
    measured = measure(evidence)
    if measured is None or measured.load is None or not measured.stages or find_limits(measured).stages:
        return []
    latency_ns = measured.load.latency_mean_ns
    outside = 1 - measured.request_ns / latency_ns if latency_ns else 0.0
    if outside >= _MOSTLY:
        return [_slow_client(measured, outside)]
    knee = _knee(measured)
    if not measured.load.concurrency or measured.in_flight >= knee:
        return []
    if cpu_is_full(measured.host) or _is_in_no_stage(measured):
        # More requests in flight would wait there, not in a stage.
        return []
    enough = math.ceil(2 * knee)
    return [
        Finding(
            rule="client-bound",
            model=measured.pipeline.name,
            severity=Severity.WARNING,
            title=f"{describe_crowd(measured.in_flight)} cannot fill {measured.pipeline.name}: stage times add up",
            evidence=(
                in_flight_fact(measured),
                throughput_fact(measured),
                *ceiling_facts(measured),
                *host_facts(measured),
            ),
            advice=f"Measure again with {enough} requests in flight before judging the stages.",
            effect=predict_in_flight(measured, enough),
        )
    ]


def _slow_client(measured: MeasuredPipeline, outside: float) -> Finding:
    return Finding(
        rule="client-bound",
        model=measured.pipeline.name,
        severity=Severity.WARNING,
        title=f"requests of {measured.pipeline.name} spend {outside:.0%} of their time outside of the server",
        evidence=(
            Fact(
                "outside of the server",
                outside,
                "share",
                "1 - server's request ns / client's latency",
                "load report",
            ),
            in_flight_fact(measured),
            throughput_fact(measured),
        ),
        advice="Look at the client and the network first: payload size and encoding, a busy client, connections.",
    )


def _knee(measured: MeasuredPipeline) -> float:
    """Return the requests in flight from which queues must form: R0 x the lowest ceiling (Denning and Buzen)."""
    return measured.unqueued_ns / NS_PER_S * ceilings(measured)[0].per_s


def _no_throttle_title(measured: MeasuredPipeline, busiest: MeasuredStage, *, full: bool) -> str:
    name = measured.pipeline.name
    if full and measured.host:
        cores = f"{measured.host.busy_cores:.2f} of {measured.host.cores} cores"
        return f"no stage throttles {name}, the CPU does: {cores} are busy"
    state = (
        f"the busiest is {busiest.name}, {busiest.busy:.2f}, its queue {busiest.queue_share:.0%} of request time"
    )
    if _is_in_no_stage(measured):
        outside = 1 - measured.in_stages_ns / measured.request_ns
        return f"no stage throttles {name}: {outside:.0%} of request time is in none of them ({state})"
    what = "no stage that can be judged" if measured.unjudged else "no stage"
    return f"{what} throttles {name} at this load: {state}"


def _is_in_no_stage(measured: MeasuredPipeline) -> bool:
    """Tell whether requests spend most of their time in no stage: front end, scheduling of the ensemble."""
    return not measured.unjudged and measured.in_stages_ns < (1 - _MOSTLY) * measured.request_ns


def _where_it_would_be(measured: MeasuredPipeline) -> str:
    lowest = ceilings(measured)[0]
    return (
        f"The first limit is {lowest.name}, at about {lowest.per_s:.0f} requests/s, "
        f"from {describe_crowd(math.ceil(_knee(measured)))} on; "
        f"now: {measured.requests_per_s:.0f} requests/s, {measured.in_flight:.1f} in flight."
    )
