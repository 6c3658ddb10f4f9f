"""The pass that says what cannot be judged: a counter that stands still is no idle stage."""

from __future__ import annotations

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.facts import STATISTICS
from tritonscope.analyze.findings import Fact, Finding, Quality, Severity
from tritonscope.analyze.measured import Unjudged, measure


def cannot_judge(evidence: Evidence) -> list[Finding]:
    """Name the stages whose statistics say nothing, and a pipeline without traffic."""
    if evidence.window is None:
        return []
    measured = measure(evidence)
    if measured is None:
        return [_no_traffic(evidence)]
    return [_finding(unjudged, measured.counters.requests) for unjudged in measured.unjudged]


def _no_traffic(evidence: Evidence) -> Finding:
    name = evidence.pipeline.name
    reloaded = bool(evidence.window and name in evidence.window.reloaded)
    return Finding(
        rule="cannot-judge",
        model=name,
        severity=Severity.WARNING,
        title=f"{name} was loaded anew while it was measured"
        if reloaded
        else f"{name} had no request while it was measured",
        advice="Measure again under the load that you care about (tritonscope load makes one).",
    )


def _finding(unjudged: Unjudged, requests: int) -> Finding:
    stage = unjudged.stage
    return Finding(
        rule="cannot-judge",
        model=stage.name,
        severity=Severity.WARNING,
        title=f"{stage.name} cannot be judged: {unjudged.reason}",
        evidence=(
            Fact("completions", 0, "1", "executions in batch_stats", STATISTICS, Quality.UNKNOWN),
            Fact("pipeline requests", requests, "1", "inference_stats.success", STATISTICS),
        ),
        advice=f"{stage.name} may be idle or the throttle: look inside it (tritonscope run records Python stages), "
        "or at its backend's own metrics.",
    )
