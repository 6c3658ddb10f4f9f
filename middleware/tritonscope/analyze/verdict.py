"""The verdict: what was found, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.findings import Effect, Finding
from tritonscope.analyze.remedies import WORTH_IT


def give_verdict(evidence: Evidence, findings: Sequence[Finding]) -> str:
    """Return the first finding in a line, with what the change that is advised for its model would buy."""
    name = evidence.pipeline.name
    if not findings:
        return f"not measured, and no Python stage of {name} has a single instance"
    first = findings[0]
    if first.rule == "configuration":
        return f"not measured: what may throttle {name} is {_either([finding.model for finding in findings])}"
    change = next((other for other in findings if other.rule == "single-instance-python-stage"), first)
    if change.effect is None or change.model != first.model:
        return first.title
    return f"{first.title}; {describe(change.effect)}"


def describe(effect: Effect) -> str:
    """Return an effect in words: the change, its gain with bounds, and what binds next."""
    lower, upper = effect.gain_bounds
    if effect.gain < WORTH_IT:
        at_most = f" (at most {upper:+.0%})" if upper > 2 * WORTH_IT else ""
        return f"{effect.change} would buy less than {WORTH_IT:.0%}{at_most}: {effect.binds_next} binds"
    return (
        f"{effect.change} would buy {effect.gain:+.0%} ({lower:+.0%} to {upper:+.0%}), "
        f"and then {effect.binds_next} binds"
    )


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
