"""A pipeline and its stages as they were measured: counters turned into means, shares and capacities."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tritonscope.analyze import capacity
from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.instances import Instances, count_instances, measure_busy
from tritonscope.analyze.window import HostWindow, Window
from tritonscope.evidence import LoadReport, ModelStatistics
from tritonscope.repository.pipeline import Node, Pipeline
from tritonscope.repository.stages import Stage


class MeasuredStage(NamedTuple):
    """What one stage did in the window. Times are means in nanoseconds: of an execution, of a request's queue."""

    stage: Stage
    counters: ModelStatistics
    instances: Instances
    busy_instances: float
    execution_ns: float
    queue_ns: float
    queue_share: float
    visits: float

    @property
    def name(self) -> str:
        """The model's name."""
        return self.stage.name

    @property
    def batch(self) -> float:
        """Mean batch size: inferences / executions of `batch_stats`."""
        return self.counters.inferences / sum(batch.executions for batch in self.counters.batches)

    @property
    def busy(self) -> float:
        """The share of the window in which an instance executes; 1 at most, for executions that began before it."""
        return min(self.busy_instances / self.instances.count, 1.0)

    @property
    def capacity_per_s(self) -> float:
        """The pipeline requests a second that it can serve at its batch size of now."""
        return self.capacity_with(self.instances.count)

    def capacity_with(self, instances: int) -> float:
        """The same with another number of instances, executions taking as long as now."""
        return capacity.capacity_per_s(instances, self.batch, self.execution_ns, self.visits)


class Unjudged(NamedTuple):
    """A stage that cannot be judged, and why."""

    stage: Stage
    reason: str


class MeasuredPipeline(NamedTuple):
    """What a pipeline did in the window. Times are means of a request, in nanoseconds.

    `unqueued_ns` is its time, the client's where it was measured, less all waiting in queues; `in_stages_ns` what
    the stages on its longest path account for, waiting included.
    """

    pipeline: Pipeline
    counters: ModelStatistics
    requests_per_s: float
    request_ns: float
    unqueued_ns: float
    in_stages_ns: float
    in_flight: float
    stages: tuple[MeasuredStage, ...]
    unjudged: tuple[Unjudged, ...]
    host: HostWindow | None
    load: LoadReport | None


def measure(evidence: Evidence) -> MeasuredPipeline | None:
    """Return what was measured, None if nothing was: no statistics, or no request in the window."""
    window, pipeline = evidence.window, evidence.pipeline
    own = window.of(pipeline.name) if window and window.duration_ns > 0 else None
    if window is None or own is None or not own.requests:
        return None
    counters = {stage.name: counted for stage in pipeline.stages if (counted := _counted(pipeline, stage, window))}
    judged = {name: counted for name, counted in counters.items() if capacity.execution_ns(counted)}
    stages = _measure_stages(evidence, own, judged, window.duration_ns)
    load = evidence.load if evidence.load and evidence.load.concurrency else None
    queued_ns = _longest(pipeline, stages, lambda stage: stage.queue_ns)
    served_ns = _longest(pipeline, stages, lambda stage: stage.execution_ns)
    request_ns = own.request_ns / own.requests
    return MeasuredPipeline(
        pipeline=pipeline,
        counters=own,
        requests_per_s=own.requests * capacity.NS_PER_S / window.duration_ns,
        request_ns=request_ns,
        unqueued_ns=max((load.latency_mean_ns if load else request_ns) - queued_ns, served_ns),
        in_stages_ns=_longest(pipeline, stages, lambda stage: stage.queue_ns + stage.execution_ns),
        in_flight=load.concurrency if load else capacity.in_flight(own.request_ns, window.duration_ns),
        stages=tuple(stages.values()),
        unjudged=tuple(
            Unjudged(stage, _why(stage, counters.get(stage.name), own, window))
            for stage in pipeline.stages
            if stage.name not in judged
        ),
        host=evidence.host,
        load=evidence.load,
    )  # fmt: skip


def _counted(pipeline: Pipeline, stage: Stage, window: Window) -> ModelStatistics | None:
    """Return the counters of the version of `stage` that the pipeline's first use of it names."""
    version = next(node.version for node in pipeline.nodes if node.stage.name == stage.name)
    return window.of(stage.name, version)


def _measure_stages(
    evidence: Evidence, own: ModelStatistics, judged: dict[str, ModelStatistics], window_ns: int
) -> dict[str, MeasuredStage]:
    stages = {stage.name: stage for stage in evidence.pipeline.stages if stage.name in judged}
    took = {name: capacity.execution_ns(counters) for name, counters in judged.items()}
    busy = {
        name: measure_busy(capacity.busy_instances(counters, window_ns), took[name], window_ns)
        for name, counters in judged.items()
    }
    seen = {name: records.instances for name, records in evidence.records.items()}
    instances = count_instances(stages, busy, seen)
    measured = {}
    for name, stage in stages.items():
        counters = judged[name]
        queue_ns = counters.queue_ns / counters.requests if counters.requests else 0.0
        waited_ns = queue_ns * evidence.pipeline.in_series(name)
        measured[name] = MeasuredStage(
            stage, counters, instances[name], busy[name].instances, took[name], queue_ns,
            # Parallel steps wait at the same time, so a share never exceeds the whole.
            queue_share=min(waited_ns * own.requests / own.request_ns, 1.0) if own.request_ns else 0.0,
            visits=capacity.visits(counters, own),
        )  # fmt: skip
    return measured


def _longest(pipeline: Pipeline, stages: dict[str, MeasuredStage], part: Callable[[MeasuredStage], float]) -> float:
    """Return the greatest sum of `part` along a path; stages that were not judged count nothing."""

    def weight(node: Node) -> float:
        stage = stages.get(node.stage.name)
        return part(stage) if stage else 0.0

    return pipeline.longest(weight)


def _why(stage: Stage, counted: ModelStatistics | None, own: ModelStatistics, window: Window) -> str:
    if stage.name in window.reloaded:
        return "it was loaded anew within the window"
    if counted is None:
        return "the server keeps no statistics of it: is it loaded?"
    if counted.cache_hits:
        return f"all of its {counted.cache_hits} requests were answered from the cache"
    how = "Triton keeps none for this decoupled model" if stage.decoupled else "not called, or Triton kept none"
    return f"its statistics have 0 completions while the pipeline has {own.requests}: {how}"
