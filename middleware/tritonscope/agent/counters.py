"""What an agent has done, as its summary tells it."""

from __future__ import annotations

from typing import NamedTuple


class AgentCounters(NamedTuple):
    """Everything since the agent began. Each span that was made is sent, failed or dropped in the end.

    `records_dropped` counts batches that found their ring full, `damages` places where a ring did not hold what its
    writer had put there, `spans_unsampled` spans that were not made because their trace is not sampled,
    `stubs_died` stubs that ended in the middle of a batch.
    """

    spans_sent: int = 0
    spans_failed: int = 0
    spans_dropped: int = 0
    spans_unsampled: int = 0
    batches: int = 0
    requests: int = 0
    records_dropped: int = 0
    damages: int = 0
    stubs_died: int = 0
    rings: int = 0
    rings_removed: int = 0

    def plus(self, other: AgentCounters) -> AgentCounters:
        """Return the sums, field by field."""
        return AgentCounters(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))
