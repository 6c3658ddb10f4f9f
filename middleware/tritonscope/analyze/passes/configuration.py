"""The pass for a configuration that nothing was measured of: candidates, never verdicts."""

from __future__ import annotations

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.facts import CONFIGURATION
from tritonscope.analyze.findings import Fact, Finding, Quality, Severity
from tritonscope.analyze.measured import measure
from tritonscope.repository.stages import Stage


def configuration(evidence: Evidence) -> list[Finding]:
    """List the Python stages with a single instance, where nothing was measured."""
    if measure(evidence) is not None:
        return []
    return [
        _candidate(stage) for stage in evidence.pipeline.stages if stage.is_python and stage.instances.on(1) == 1
    ]


def _candidate(stage: Stage) -> Finding:
    known = stage.instances.known is not None
    single = "has a single instance" if known else "has one instance per GPU"
    return Finding(
        rule="configuration",
        model=stage.name,
        severity=Severity.INFO,
        title=f"{stage.name} is a Python stage that {single}: it may throttle the pipeline (not measured)",
        evidence=(
            Fact("instances", stage.instances.on(1), "1", "" if known else str(stage.instances), CONFIGURATION,
                 Quality.EXACT if known else Quality.LOWER_BOUND),
            Fact("max_batch_size", stage.max_batch_size, "1", "", CONFIGURATION),
        ),
        advice="Measure it under load: tritonscope analyze --url HOST:PORT.",
    )  # fmt: skip
