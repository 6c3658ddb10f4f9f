"""How many instances a stage has, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from tritonscope.analyze.capacity import implied_instances
from tritonscope.analyze.findings import Quality
from tritonscope.repository.stages import Stage


class Instances(msgspec.Struct, frozen=True):
    """A number of instances; `note` says how it is known where the configuration alone does not tell."""

    count: int
    quality: Quality = Quality.EXACT
    source: str = "config.pbtxt"
    note: str = ""


class Busy(NamedTuple):
    """What a stage was measured to do: busy instances, and the least number of instances that explains them."""

    instances: float
    implied: int


def count_instances(
    stages: Mapping[str, Stage], busy: Mapping[str, Busy], seen: Mapping[str, int]
) -> dict[str, Instances]:
    """Return the instances of each of `stages`; `seen` are numbers of stub processes that were observed.

    Where the configuration says "one per GPU", the number of GPUs is at least what the busiest such stage implies.
    """
    gpus = max((_gpus(stages[name], measured) for name, measured in busy.items()), default=1)
    return {name: _count(stage, busy.get(name), seen.get(name, 0), gpus) for name, stage in stages.items()}


def measure_busy(instances: float, execution_ns: float, window_ns: int) -> Busy:
    """Return a stage's busy instances together with what they imply."""
    return Busy(instances, implied_instances(instances, execution_ns, window_ns))


def _gpus(stage: Stage, measured: Busy) -> int:
    fixed, per_gpu = stage.instances
    return max(1, -(-(measured.implied - fixed) // per_gpu)) if per_gpu else 1


def _count(stage: Stage, measured: Busy | None, seen: int, gpus: int) -> Instances:
    if seen:
        return Instances(seen, source="records")
    configured = stage.instances
    known = configured.known
    implied = measured.implied if measured else 1
    count = max(configured.on(gpus) if known is None else known, 1)
    measure = f"the measured {measured.instances:.2f} busy instances imply" if measured else ""
    if implied > count:
        return Instances(
            implied, Quality.LOWER_BOUND, "statistics", f"configured: {configured}; {measure} {implied}"
        )
    if known is not None:
        return Instances(count)
    where = "instance_group names no GPUs" if stage.groups else "instance_group absent"
    how = f"{measure} at least {count}" if implied == count else f"{gpus} GPU{'s' * (gpus > 1)} assumed"
    return Instances(count, Quality.LOWER_BOUND, "statistics", f"{where}: {configured.per_gpu} per GPU; {how}")
