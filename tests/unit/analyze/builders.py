"""Small evidence, written as reports print it: times in milliseconds, rates a second."""

from __future__ import annotations

from collections.abc import Mapping

from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.window import HostWindow, Window
from tritonscope.evidence import BatchStatistics, LoadReport, ModelStatistics
from tritonscope.repository.pipeline import Node, Pipeline
from tritonscope.repository.stages import Batching, InstanceGroup, Stage

CPU_1 = (InstanceGroup("CPU", 1),)
CPU_2 = (InstanceGroup("CPU", 2),)
GPU_1 = (InstanceGroup("GPU", 1, (0,)),)


def python_stage(name: str, groups: tuple[InstanceGroup, ...] = CPU_1, **fields) -> Stage:
    return Stage(name, "python", fields.pop("max_batch_size", 0), groups, **fields)


def gpu_stage(name: str, backend: str = "tensorrt", *, max_batch_size: int = 0, batching: bool = False) -> Stage:
    return Stage(name, backend, max_batch_size, GPU_1, Batching() if batching else None)


def serial(name: str, *stages: Stage) -> Pipeline:
    """Return a pipeline whose stages follow each other."""
    nodes = [Node(stage, after=frozenset({number - 1} if number else ())) for number, stage in enumerate(stages)]
    return Pipeline(name, tuple(nodes))


def counted(
    model: str,
    requests: int,
    execution_ms: float,
    *,
    queue_ms: float = 0.0,
    executions: int = 0,
    inferences: int = 0,
) -> ModelStatistics:
    """Return the counters of `requests` that were executed in `executions` batches (default: one by one)."""
    executions = executions or requests
    inferences = inferences or requests
    took_ns, queue_ns = round(execution_ms * 1e6), round(queue_ms * 1e6)
    batch = BatchStatistics(max(round(inferences / executions), 1), executions, 0, took_ns * executions, 0)
    return ModelStatistics(
        model, "1", inferences, executions, requests, 0, (took_ns + queue_ns) * requests, queue_ns * requests,
        0, took_ns * requests, 0, batches=(batch,),
    )  # fmt: skip


def never_counted(model: str) -> ModelStatistics:
    return ModelStatistics(model, "1", *[0] * 9)


def whole(name: str, requests: int, request_ms: float, *, inferences: int = 0) -> ModelStatistics:
    """Return the counters of an ensemble: its queue is nothing, its compute the sum of its stages."""
    total_ns = round(request_ms * 1e6) * requests
    return ModelStatistics(name, "1", inferences or requests, requests, requests, 0, total_ns, 0, 0, total_ns, 0)


def window(seconds: float, *counters: ModelStatistics) -> Window:
    return Window(round(seconds * 1e9), {(model.model, model.version): model for model in counters})


def closed_loop(model: str, concurrency: int, latency_ms: float, *, seconds: float = 10.0) -> LoadReport:
    latency_ns = round(latency_ms * 1e6)
    requests = round(concurrency * seconds / (latency_ms / 1e3))
    return LoadReport(model, round(seconds * 1e9), requests, 0, *[latency_ns] * 6, concurrency=concurrency)


def one_stage(
    *, busy: float = 0.98, queue_share: float = 0.8, stage: Stage | None = None, load: LoadReport | None = None
) -> Evidence:
    """Return ten seconds of a 10 ms stage, as busy and as queued as given, and a 1 ms stage behind it."""
    first = stage or python_stage("slow")
    requests = round(busy * 10 / 0.010)
    request_ms = 11 / (1 - queue_share)
    return Evidence(
        serial("pipeline", first, python_stage("fast")),
        window(
            10, whole("pipeline", requests, request_ms), counted("fast", requests, 1),
            counted(first.name, requests, 10, queue_ms=queue_share * request_ms),
        ),
        load=load,
    )  # fmt: skip


def with_host(evidence: Evidence, cores: int, busy_cores: float) -> Evidence:
    return evidence._replace(host=HostWindow(cores, busy_cores))


def by_rule(findings) -> Mapping[str, object]:
    return {finding.rule: finding for finding in findings}


def facts(finding) -> dict[str, float]:
    return {fact.name: fact.value for fact in finding.evidence}
