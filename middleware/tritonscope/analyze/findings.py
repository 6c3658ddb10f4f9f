"""What an analysis says: findings with their evidence, a change, and what the change is predicted to buy."""

from __future__ import annotations

from enum import Enum

import msgspec


class Quality(Enum):
    """How far a number may be trusted."""

    EXACT = "exact"
    ESTIMATE = "estimate"
    LOWER_BOUND = "lower_bound"
    UPPER_BOUND = "upper_bound"
    UNKNOWN = "unknown"


class Severity(Enum):
    """How much a finding matters: `critical` holds the pipeline, `warning` misleads, `info` is worth knowing."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class Fact(msgspec.Struct, frozen=True):
    """A number, where it comes from and how far it may be trusted.

    Units: `ns`, `requests/s`, `share` (0 to 1), `cores`, `1` (a plain number).
    """

    name: str
    value: float
    unit: str
    formula: str = ""
    source: str = ""
    quality: Quality = Quality.EXACT


class Effect(msgspec.Struct, frozen=True):
    """What a change is predicted to do to the pipeline's throughput, all in pipeline requests a second.

    `lower_per_s` and `upper_per_s` are bounds, not deviations; `binds_next` names what holds the pipeline then.
    """

    change: str
    now_per_s: float
    per_s: float
    lower_per_s: float
    upper_per_s: float
    binds_next: str
    assumption: str

    @property
    def gain(self) -> float:
        """The predicted gain as a share of now's throughput."""
        return self._share(self.per_s)

    @property
    def gain_bounds(self) -> tuple[float, float]:
        """The bounds of the gain."""
        return self._share(self.lower_per_s), self._share(self.upper_per_s)

    def _share(self, per_s: float) -> float:
        return per_s / self.now_per_s - 1 if self.now_per_s else 0.0


class Finding(msgspec.Struct, frozen=True):
    """One judgement of one pass. `diff` is a unified diff of the model's config.pbtxt, empty where none applies."""

    rule: str
    model: str
    severity: Severity
    title: str
    evidence: tuple[Fact, ...] = ()
    advice: str = ""
    diff: str = ""
    effect: Effect | None = None
