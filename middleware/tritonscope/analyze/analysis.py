"""A finished analysis: everything that a report shows, and nothing that it would have to work out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.findings import Finding, Quality, Severity
from tritonscope.analyze.limits import find_limits
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage, measure
from tritonscope.analyze.passes import PASSES
from tritonscope.analyze.verdict import give_verdict
from tritonscope.repository.stages import Stage

_NOTEWORTHY = 0.05
_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class StageRow(msgspec.Struct, frozen=True):
    """One stage in the table. What was not measured is None.

    `at_least` says that there may be more instances; `note` how they are known, or why a stage was not judged.
    """

    model: str
    backend: str
    instances: int
    at_least: bool = False
    role: str = ""
    note: str = ""
    busy: float | None = None
    queue_share: float | None = None
    queue_ns: float | None = None
    execution_ns: float | None = None
    batch: float | None = None
    visits: float | None = None
    capacity_per_s: float | None = None


class Traffic(msgspec.Struct, frozen=True):
    """What the pipeline did in the window; latencies in nanoseconds."""

    window_ns: int
    requests: int
    failures: int
    requests_per_s: float
    in_flight: float
    request_ns: float
    client_latency_ns: float | None = None
    busy_cores: float | None = None
    cores: int | None = None


class Analysis(msgspec.Struct, frozen=True):
    """What is known about one pipeline. `layers` are its stages in order; those of one layer may run at once."""

    pipeline: str
    level: str
    verdict: str
    layers: tuple[tuple[str, ...], ...]
    stages: tuple[StageRow, ...]
    findings: tuple[Finding, ...]
    traffic: Traffic | None = None
    notes: tuple[str, ...] = ()


def analyze(evidence: Evidence, notes: Sequence[str] = ()) -> Analysis:
    """Return the analysis of `evidence`; `notes` are what else a reader should know, e.g. of damaged files."""
    findings = sorted((finding for judge in PASSES for finding in judge(evidence)), key=_order)
    measured = measure(evidence)
    return Analysis(
        pipeline=evidence.pipeline.name,
        level=evidence.level.value,
        verdict=give_verdict(evidence, findings),
        layers=tuple(tuple(node.stage.name for node in layer) for layer in evidence.pipeline.layers),
        stages=_rows(evidence, measured),
        findings=tuple(findings),
        traffic=_traffic(evidence, measured) if measured else None,
        notes=(*notes, *(_shared(measured) if measured else ())),
    )


def _order(finding: Finding) -> tuple[int, float]:
    return _RANK[finding.severity], -finding.effect.gain if finding.effect else 0.0


def _rows(evidence: Evidence, measured: MeasuredPipeline | None) -> tuple[StageRow, ...]:
    if measured is None:
        return tuple(_plain_row(stage) for stage in evidence.pipeline.stages)
    limits = find_limits(measured)
    roles = {stage.name: "co-limiting" for stage in limits.co_limiting}
    if limits.throttle:
        roles[limits.throttle.name] = "throttle"
    rows = {stage.name: _measured_row(stage, roles.get(stage.name, "")) for stage in measured.stages}
    reasons = {unjudged.stage.name: unjudged.reason for unjudged in measured.unjudged}
    return tuple(
        rows.get(stage.name) or _plain_row(stage, "not judged", reasons[stage.name])
        for stage in evidence.pipeline.stages
    )


def _shared(measured: MeasuredPipeline) -> Iterator[str]:
    """Yield the stages that the counters and the graph disagree on: their capacity is an estimate."""
    elements = measured.counters.inferences / measured.counters.requests
    for stage in measured.stages:
        uses = sum(node.stage.name == stage.name for node in measured.pipeline.nodes)
        met = stage.visits / elements if elements else uses
        if abs(met / uses - 1) > _NOTEWORTHY:
            yield (
                f"by the counters a request meets {stage.name} {met:.2f} times, by the graph {uses}: it serves "
                "other requests as well, or gets several responses of a decoupled stage"
            )


def _plain_row(stage: Stage, role: str = "", note: str = "") -> StageRow:
    count = stage.instances
    depends = count.known is None
    return StageRow(
        stage.name, stage.backend, count.on(1), depends, role, note or (f"instances {count}" if depends else "")
    )  # fmt: skip


def _measured_row(stage: MeasuredStage, role: str) -> StageRow:
    instances = stage.instances
    return StageRow(
        stage.name, stage.stage.backend, instances.count, instances.quality is Quality.LOWER_BOUND, role,
        instances.note, stage.busy, stage.queue_share, stage.queue_ns, stage.execution_ns, stage.batch,
        stage.visits, stage.capacity_per_s,
    )  # fmt: skip


def _traffic(evidence: Evidence, measured: MeasuredPipeline) -> Traffic:
    load, host = measured.load, measured.host
    return Traffic(
        window_ns=evidence.window.duration_ns if evidence.window else 0,
        requests=measured.counters.requests,
        failures=measured.counters.failures,
        requests_per_s=measured.requests_per_s,
        in_flight=measured.in_flight,
        request_ns=measured.request_ns,
        client_latency_ns=load.latency_mean_ns if load else None,
        busy_cores=host.busy_cores if host else None,
        cores=host.cores if host else None,
    )
