"""What holds a pipeline: its ceilings, the stage that throttles it, and what a change would make of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from tritonscope.analyze import capacity
from tritonscope.analyze.findings import Effect, Quality
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage
from tritonscope.analyze.window import HostWindow

SATURATED = 0.9
"""Busy share from which a stage with a queue bounds the pipeline."""

NEARLY = 0.7
"""Busy share from which it does if requests spend half of their time in its queue (gaps between executions are not
counted as busy), or if another stage is as busy: then they starve each other and neither gets to 0.9."""

QUEUED, MOSTLY_QUEUED = 0.05, 0.5
CO_LIMITING = 1.1
"""Capacities within this factor of the least bound the pipeline together."""

CPU_FULL = 0.95
_SPREAD = 0.05
"""How far a ceiling may be off: execution and CPU time of a request change with the load."""


class Ceiling(NamedTuple):
    """What the pipeline's throughput cannot pass, in its requests a second, with bounds."""

    name: str
    per_s: float
    lower_per_s: float
    upper_per_s: float


class Limits(NamedTuple):
    """Who holds the pipeline: a throttle, or several stages together, the throttle (if any) first; or nobody."""

    throttle: MeasuredStage | None = None
    co_limiting: tuple[MeasuredStage, ...] = ()

    @property
    def stages(self) -> tuple[MeasuredStage, ...]:
        """All of them."""
        return self.co_limiting or ((self.throttle,) if self.throttle else ())


def find_limits(measured: MeasuredPipeline) -> Limits:
    """Return who holds the pipeline.

    By the utilisation law a stage's busy share is throughput / capacity, so the least capacity is the busiest.
    """
    ranked = sorted(measured.stages, key=lambda stage: stage.capacity_per_s)
    throttle = next((stage for stage in ranked if _is_saturated(stage)), None)
    first = throttle or next(iter(ranked), None)
    if first is None or first.busy < NEARLY:
        return Limits(throttle)
    limit = CO_LIMITING * first.capacity_per_s
    together = (first, *(stage for stage in ranked if stage is not first and stage.capacity_per_s <= limit))
    queued = sum(stage.queue_share for stage in together) >= QUEUED
    return Limits(throttle, together if len(together) > 1 and queued else ())


def ceilings(measured: MeasuredPipeline, counts: Mapping[str, int] | None = None) -> list[Ceiling]:
    """Return all ceilings, the lowest first, with other numbers of instances where `counts` gives them."""
    found = [_stage_ceiling(measured, stage, (counts or {}).get(stage.name)) for stage in measured.stages]
    if measured.host:
        found.append(_cpu_ceiling(measured, measured.host))
    return sorted(found, key=lambda ceiling: ceiling.per_s)


def next_ceiling(measured: MeasuredPipeline, model: str) -> Ceiling | None:
    """Return what would hold the pipeline if `model` did not, None where nothing else was measured."""
    return next((ceiling for ceiling in ceilings(measured) if ceiling.name != model), None)


def predict(measured: MeasuredPipeline, model: str, count: int) -> Effect:
    """Return what `count` instances of a stage would make of the throughput."""
    return _effect(measured, f"count: {count}", ceilings(measured, {model: count}), measured.in_flight)


def predict_without(measured: MeasuredPipeline, *models: str) -> Effect | None:
    """Return what the throughput would be if `models` held nothing back, None where nothing else was measured."""
    others = [ceiling for ceiling in ceilings(measured) if ceiling.name not in models]
    if not others:
        return None
    effect = _effect(measured, f"freeing {' and '.join(models)}", others, measured.in_flight)
    # To take a limit away harms nothing, whatever the queues behind it do.
    return msgspec.structs.replace(effect, lower_per_s=max(effect.lower_per_s, effect.now_per_s))


def predict_in_flight(measured: MeasuredPipeline, requests: int) -> Effect:
    """Return what another number of requests in flight would make of the throughput."""
    bounds = ceilings(measured._replace(in_flight=requests))
    return _effect(measured, f"{requests} requests in flight", bounds, requests)


def _is_saturated(stage: MeasuredStage) -> bool:
    if stage.busy >= SATURATED:
        return stage.queue_share >= QUEUED
    return stage.busy >= NEARLY and stage.queue_share >= MOSTLY_QUEUED


def _stage_ceiling(measured: MeasuredPipeline, stage: MeasuredStage, count: int | None) -> Ceiling:
    now = stage.capacity_per_s
    per_s = stage.capacity_with(count or stage.instances.count)
    likely, most = _batch_gains(measured, stage)
    exact = stage.instances.quality is Quality.EXACT
    # Another instance on a GPU that may be full already buys nothing for certain.
    certain = per_s if stage.stage.is_on_cpu else min(now, per_s)
    return _ceiling(stage.name, per_s * likely, certain, per_s * most if exact else math.inf)


def _cpu_ceiling(measured: MeasuredPipeline, host: HostWindow) -> Ceiling:
    """Return the ceiling if all that the host does grows with the load; at most, if only its stages' work does."""
    busiest, least = host.busy_cores, min(host.busy_cores, stage_cores(measured))
    per_s = capacity.cpu_ceiling_per_s(host.cores, busiest, measured.requests_per_s)
    most = capacity.cpu_ceiling_per_s(host.cores, least, measured.requests_per_s)
    return _ceiling(f"the CPU ({host.cores} cores)", per_s, per_s, most)


def stage_cores(measured: MeasuredPipeline) -> float:
    """Return how many cores the stages' executions kept busy at most, if each is one thread on the CPU."""
    return sum(stage.busy_instances for stage in measured.stages if stage.stage.is_on_cpu)


def _ceiling(name: str, per_s: float, lower_per_s: float, upper_per_s: float) -> Ceiling:
    return Ceiling(name, per_s, (1 - _SPREAD) * lower_per_s, (1 + _SPREAD) * upper_per_s)


def _batch_gains(measured: MeasuredPipeline, stage: MeasuredStage) -> tuple[float, float]:
    """Return by what factor larger batches are likely to raise a capacity under load, and the most they could.

    They grow with the requests in flight, in a stage that is not full yet. The most is that they take no longer;
    what is likely follows from the batch sizes that were seen, no further than to twice the largest.
    """
    largest = min(stage.stage.max_batch_size, measured.in_flight)
    if not stage.stage.batches_dynamically or _is_saturated(stage) or not 0 < stage.batch < largest:
        return 1.0, 1.0
    most = largest / stage.batch
    fit = capacity.execution_by_batch(stage.counters)
    if fit is None:
        return 1.0, most
    reach = min(largest, 2.0 * max(batch.batch_size for batch in stage.counters.batches))
    likely = (reach / stage.batch) * stage.execution_ns / (fit[0] + fit[1] * reach)
    return min(max(likely, 1.0), most), most


def _effect(measured: MeasuredPipeline, change: str, bounds: Sequence[Ceiling], flying: float) -> Effect:
    """Return the effect of having `bounds` for ceilings and `flying` requests in flight."""
    alone_ns, now = measured.unqueued_ns, ceilings(measured)[0]
    reachable = capacity.in_flight_ceiling_per_s(flying, alone_ns)
    upper = min(reachable, *(bound.upper_per_s for bound in bounds))
    lower = min(capacity.least_per_s(flying, alone_ns, min(bound.lower_per_s for bound in bounds)), upper)
    modelled_now = capacity.closed_loop_per_s(measured.in_flight, alone_ns, now.per_s)
    modelled = capacity.closed_loop_per_s(flying, alone_ns, bounds[0].per_s)
    crowd = describe_crowd(flying)
    return Effect(
        change=change,
        now_per_s=measured.requests_per_s,
        # What the model says of the change is believed, not what it says of the present, which was measured.
        per_s=min(max(measured.requests_per_s * modelled / modelled_now, lower), upper),
        lower_per_s=lower,
        upper_per_s=upper,
        binds_next=bounds[0].name if bounds[0].per_s <= reachable else crowd,
        assumption=f"{crowd}; execution and CPU time of a request as now, +-{_SPREAD:.0%}. "
        "Estimate: mean value analysis. Lower bound: every request waits for every other. Upper bound: no queue.",
    )


def describe_crowd(requests: float) -> str:
    """Return a number of requests in flight in words."""
    return "one request in flight" if round(requests) <= 1 else f"{requests:.0f} requests in flight"


def cpu_is_full(host: HostWindow | None) -> bool:
    """Tell whether all cores of the host were at work."""
    return host is not None and host.busy_cores >= CPU_FULL * host.cores
