"""Changes to a stage, chosen by what they are predicted to buy."""

from __future__ import annotations

from typing import NamedTuple

from tritonscope.analyze.findings import Effect
from tritonscope.analyze.limits import cpu_is_full, predict, predict_without, stage_cores
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage
from tritonscope.repository.edit import count_diff
from tritonscope.repository.stages import Stage

WORTH_IT = 0.05
"""A gain below this is within what one measurement can tell."""

_MOST_TIMES = 4
"""Further than this times the instances of now, a prediction is not worth much: go up in steps."""

_MEMORY = (
    "Each instance is a process: the model's memory once more, and 1 MiB of /dev/shm (64 MiB before Triton 23.08), "
    "more with large tensors. Docker gives a container 64 MiB of /dev/shm unless --shm-size says otherwise."
)


class Remedy(NamedTuple):
    """What to do about a stage, and what that would buy; `instances` and `diff` where more of them are the way."""

    advice: str
    effect: Effect | None
    instances: int | None = None
    diff: str = ""


def remedy(measured: MeasuredPipeline, stage: MeasuredStage) -> Remedy:
    """Return what to do about a stage that holds the pipeline."""
    if not stage.stage.is_python:
        return Remedy(
            f"Make {stage.name} cheaper, let it batch, or give it more instances if its device has room: "
            "that was not measured.",
            predict_without(measured, stage.name),
        )
    count = best_count(measured, stage)
    if count is None:
        return Remedy(
            f"More instances buy less than {WORTH_IT:.0%}: {_obstacle(measured, stage)}. "
            f"Make the work of {stage.name} cheaper, move it elsewhere, or make room for it.",
            predict(measured, stage.name, stage.instances.count + 1),
        )
    effect = predict(measured, stage.name, count)
    return Remedy(_advice(stage.stage, count), effect, count, count_diff(stage.stage, count))


def best_count(measured: MeasuredPipeline, stage: MeasuredStage) -> int | None:
    """Return the least number of instances that buys nearly all there is to gain, None if that is too little."""
    now = stage.instances.count
    buys = {count: predict(measured, stage.name, count).gain for count in range(now + 1, _MOST_TIMES * now + 1)}
    most = max(buys.values())
    if most < WORTH_IT:
        return None
    return next(count for count, gain in buys.items() if 1 + gain >= (1 + most) * (1 - WORTH_IT))


def _obstacle(measured: MeasuredPipeline, stage: MeasuredStage) -> str:
    host = measured.host
    if host and cpu_is_full(host):
        own = min(stage_cores(measured), host.busy_cores)
        return f"the CPU is full ({host.busy_cores:.2f} of {host.cores} cores, at most {own:.2f} of them in stages)"
    return f"{predict(measured, stage.name, stage.instances.count + 1).binds_next} binds next"


def _advice(stage: Stage, count: int) -> str:
    setting = "" if stage.text else f" (instance_group [ {{ {_kind(stage)}count: {count} }} ])"
    return f"Give {stage.name} count: {count}{setting}, and measure again. {_MEMORY}"


def _kind(stage: Stage) -> str:
    kinds = {group.kind for group in stage.groups}
    return f"kind: KIND_{kinds.pop()} " if len(kinds) == 1 else ""
