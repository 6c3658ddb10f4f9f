"""Measured numbers as facts: each with its formula, its source and its quality."""

from __future__ import annotations

from tritonscope.analyze.evidence import StageRecords
from tritonscope.analyze.findings import Fact, Quality
from tritonscope.analyze.limits import next_ceiling, stage_cores
from tritonscope.analyze.measured import MeasuredPipeline, MeasuredStage

STATISTICS = "/v2/models/stats"
CONFIGURATION = "config.pbtxt"


def stage_facts(stage: MeasuredStage) -> tuple[Fact, ...]:
    """Return what shows how near a stage is to its limit."""
    # The execution of a decoupled model ends when `execute` returns, while it may still be at work.
    busy_quality = Quality.LOWER_BOUND if stage.stage.decoupled else stage.instances.quality
    count = stage.instances
    return (
        Fact("busy", stage.busy, "share", "batch_stats ns / window / instances", STATISTICS, busy_quality),
        Fact("instances", count.count, "1", count.note, count.source, count.quality),
        Fact("queue share", stage.queue_share, "share", "queue ns / request ns, on its path", STATISTICS),
        Fact("queue", stage.queue_ns, "ns", "queue ns / requests", STATISTICS),
        Fact("execution", stage.execution_ns, "ns", "batch_stats ns / executions", STATISTICS),
        Fact("batch", stage.batch, "1", "inferences / executions", STATISTICS),
        Fact("max_batch_size", stage.stage.max_batch_size, "1", "", CONFIGURATION),
        Fact("visits", stage.visits, "1", "its inferences / pipeline requests", STATISTICS),
        capacity_fact(stage),
    )


def capacity_fact(stage: MeasuredStage) -> Fact:
    """Return a stage's capacity, which grows if it can form larger batches."""
    growing = stage.stage.batches_dynamically and stage.batch < stage.stage.max_batch_size
    quality = Quality.LOWER_BOUND if growing else stage.instances.quality
    formula = "instances x batch / execution / visits"
    return Fact(f"capacity of {stage.name}", stage.capacity_per_s, "requests/s", formula, STATISTICS, quality)


def throughput_fact(measured: MeasuredPipeline) -> Fact:
    """Return the pipeline's throughput in the window."""
    return Fact("throughput", measured.requests_per_s, "requests/s", "pipeline requests / window", STATISTICS)


def in_flight_fact(measured: MeasuredPipeline) -> Fact:
    """Return how many requests were in flight: what the client kept, else by Little's law."""
    if measured.load and measured.load.concurrency:
        return Fact("in flight", measured.in_flight, "1", "concurrency of the load", measured.load.client)
    return Fact("in flight", measured.in_flight, "1", "sum of request ns / window", STATISTICS, Quality.ESTIMATE)


def ceiling_facts(measured: MeasuredPipeline, without: str = "") -> tuple[Fact, ...]:
    """Return the lowest ceiling, apart from that of the stage `without`."""
    lowest = next_ceiling(measured, without)
    if lowest is None:
        return ()
    name = "next ceiling" if without else "first ceiling"
    return (Fact(name, lowest.per_s, "requests/s", lowest.name, STATISTICS, Quality.ESTIMATE),)


def host_facts(measured: MeasuredPipeline) -> tuple[Fact, ...]:
    """Return how busy the host's CPU was, where that is known, and how much of that the stages explain."""
    if measured.host is None:
        return ()
    busy, of_stages = measured.host.busy_cores, stage_cores(measured)
    return (
        Fact("busy cores", busy, "cores", f"CPU time / window, of {measured.host.cores} cores", "/proc/stat"),
        Fact("of that in stages", min(of_stages, busy), "cores", "busy x instances on the CPU", STATISTICS,
             Quality.UPPER_BOUND),
    )  # fmt: skip


def record_facts(records: StageRecords | None) -> tuple[Fact, ...]:
    """Return what only tritonscope's records tell: how much of `execute` was CPU time of its thread."""
    timed = [batch for batch in records.batches if batch.cpu_ns >= 0] if records else []
    wall_ns = sum(batch.wall_ns for batch in timed)
    if not wall_ns:
        return ()
    share = sum(batch.cpu_ns for batch in timed) / wall_ns
    return (Fact("CPU share of execute", share, "share", "CPU ns of its thread / wall ns", "records"),)


def outside_facts(measured: MeasuredPipeline) -> tuple[Fact, ...]:
    """Return what part of a request's time no stage accounts for: front end and scheduling of the ensemble."""
    if measured.unjudged:
        return ()
    share = max(1 - measured.in_stages_ns / measured.request_ns, 0.0)
    formula = "1 - (queue + execution) / request ns"
    return (Fact("in no stage", share, "share", formula, STATISTICS, Quality.ESTIMATE),)
