"""Passes that name the stages which hold the pipeline, and say what freeing them would buy."""

from __future__ import annotations

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.facts import (
    capacity_fact,
    ceiling_facts,
    host_facts,
    record_facts,
    stage_facts,
    throughput_fact,
)
from tritonscope.analyze.findings import Finding, Quality, Severity
from tritonscope.analyze.limits import find_limits, predict_without
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage, measure
from tritonscope.analyze.remedies import remedy


def throttle(evidence: Evidence) -> list[Finding]:
    """Name the stage whose capacity bounds the pipeline's, and the ceiling behind it."""
    measured = measure(evidence)
    stage = find_limits(measured).throttle if measured else None
    if measured is None or stage is None:
        return []
    change = remedy(measured, stage)
    handed_on = _is_single(stage) and change.instances is not None
    return [
        Finding(
            rule="throttle",
            model=stage.name,
            severity=Severity.CRITICAL,
            title=f"{stage.name} throttles {measured.pipeline.name}: {_state(stage)}",
            evidence=(
                *stage_facts(stage),
                *record_facts(evidence.records.get(stage.name)),
                throughput_fact(measured),
                *ceiling_facts(measured, stage.name),
                *host_facts(measured),
            ),
            # With a single instance, what to do is a finding of its own.
            advice="" if handed_on else change.advice,
            diff="" if handed_on else change.diff,
            effect=predict_without(measured, stage.name) if handed_on else change.effect,
        )
    ]


def single_instance_python_stage(evidence: Evidence) -> list[Finding]:
    """Say how many instances a Python stage that holds the pipeline with a single one should have."""
    measured = measure(evidence)
    stage = next(iter(find_limits(measured).stages), None) if measured else None
    if measured is None or stage is None or not _is_single(stage):
        return []
    change = remedy(measured, stage)
    if change.instances is None:
        return []
    return [
        Finding(
            rule="single-instance-python-stage",
            model=stage.name,
            severity=Severity.CRITICAL,
            title=f"{stage.name} is a single Python process, and executes one batch at a time whatever waits",
            evidence=stage_facts(stage)[:3],
            advice=change.advice,
            diff=change.diff,
            effect=change.effect,
        )
    ]


def co_limiting(evidence: Evidence) -> list[Finding]:
    """Name the stages whose capacities are so close that freeing one alone buys little."""
    measured = measure(evidence)
    limits = find_limits(measured) if measured else None
    if measured is None or limits is None or not limits.co_limiting:
        return []
    stages = limits.co_limiting
    names = " and ".join(stage.name for stage in stages)
    return [
        Finding(
            rule="co-limiting",
            model=stages[0].name,
            severity=Severity.WARNING if limits.throttle else Severity.CRITICAL,
            title=f"{names} hold {measured.pipeline.name} together{_alone(measured, stages[0])}",
            evidence=(
                *(stage_facts(stage)[0] for stage in stages),
                *map(capacity_fact, stages),
                throughput_fact(measured),
                *host_facts(measured),
            ),
            advice=f"Change {names} together: the ceiling of one is just behind that of the other.",
            effect=predict_without(measured, *(stage.name for stage in stages)),
        )
    ]


def _is_single(stage: MeasuredStage) -> bool:
    return stage.stage.is_python and stage.instances.count == 1


def _state(stage: MeasuredStage) -> str:
    count = stage.instances.count
    least = "at least " if stage.instances.quality is Quality.LOWER_BOUND else ""
    return (
        f"{least}{count} instance{'s' * (count > 1)}, busy {stage.busy:.2f}, "
        f"its queue is {stage.queue_share:.0%} of request time"
    )


def _alone(measured: MeasuredPipeline, first: MeasuredStage) -> str:
    effect = predict_without(measured, first.name)
    return f": freeing {first.name} alone buys {effect.gain:+.0%}" if effect else ""
