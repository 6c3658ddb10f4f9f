"""Everything that is known about one pipeline, as passes take it: its graph, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from tritonscope.analyze.window import HostWindow, Window, between, host_between, one_life, with_traffic
from tritonscope.evidence import HostSample, LoadReport, StatisticsSample
from tritonscope.records import BatchRecord
from tritonscope.repository.pipeline import Pipeline
from tritonscope.runs import Run


class Level(Enum):
    """What an analysis could judge by; each level includes those before it."""

    CONFIGURATION = "configuration"
    STATISTICS = "statistics"
    RECORDS = "records"


class StageRecords(NamedTuple):
    """What tritonscope saw inside a Python stage: its instances, and their batches within the window."""

    instances: int
    batches: Sequence[BatchRecord] = ()


class Evidence(NamedTuple):
    """What one analysis judges by; whatever is None or empty was not measured."""

    pipeline: Pipeline
    window: Window | None = None
    host: HostWindow | None = None
    load: LoadReport | None = None
    records: Mapping[str, StageRecords] = {}

    @property
    def level(self) -> Level:
        """The highest level that there is evidence of."""
        if self.window is None:
            return Level.CONFIGURATION
        return Level.RECORDS if any(seen.batches for seen in self.records.values()) else Level.STATISTICS


def evidence_of(pipeline: Pipeline, run: Run) -> Evidence:
    """Return what a run knows of `pipeline`; the window is that between the first and last samples with traffic."""
    samples = with_traffic(one_life(run.statistics, pipeline.name), pipeline.name)
    load = next((load for load in reversed(run.loads) if load.model == pipeline.name), None)
    if len(samples) < 2:  # noqa: PLR2004 - a window has two edges
        return Evidence(pipeline, load=load)
    edges = samples[0], samples[-1]
    return Evidence(pipeline, between(*edges), _host(run.hosts, edges), load, _records(run, edges))


Edges = tuple[StatisticsSample, StatisticsSample]


def _host(samples: Sequence[HostSample], edges: Edges) -> HostWindow | None:
    """Return the host's window between the samples nearest to the edges."""
    if not samples:
        return None
    before, after = (min(samples, key=lambda one: abs(one.taken_ns - edge.taken_ns)) for edge in edges)
    return host_between(before, after)


def _records(run: Run, edges: Edges) -> dict[str, StageRecords]:
    begin_ns, end_ns = edges[0].taken_ns, edges[1].taken_ns
    records: dict[str, StageRecords] = {}
    for key, instance in run.instances.items():
        inside = [batch for batch in run.batches.get(key, ()) if begin_ns <= batch.start_ns < end_ns]
        seen = records.get(instance.model, StageRecords(0))
        records[instance.model] = StageRecords(seen.instances + 1, [*seen.batches, *inside])
    return records
