"""What happened between two samples: differences of Triton's counters and of the host's CPU time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

import msgspec

from tritonscope.evidence import BatchStatistics, HostSample, ModelStatistics, StatisticsSample

Key = tuple[str, str]
"""A model and its version."""

_TOTALS = tuple(
    field for field in ModelStatistics.__struct_fields__ if field not in {"model", "version", "batches"}
)  # fmt: skip


class Window(NamedTuple):
    """Counters that grew within `duration_ns`; a model in `reloaded` began to count anew meanwhile."""

    duration_ns: int
    models: Mapping[Key, ModelStatistics]
    reloaded: frozenset[str] = frozenset()
    source: str = ""

    def of(self, model: str, version: int = -1) -> ModelStatistics | None:
        """Return what `model` did; version -1, as steps of ensembles have it, is the newest; 0 is none given."""
        versions = {int(key[1]) if key[1].isdecimal() else 0: key for key in self.models if key[0] == model}
        key = versions.get(version if version > 0 else max(versions, default=0))
        return self.models[key] if key else None


class HostWindow(NamedTuple):
    """How many of a host's cores were busy."""

    cores: int
    busy_cores: float


def between(before: StatisticsSample, after: StatisticsSample) -> Window:
    """Return what happened from `before` to `after`. A model that only `after` knows counts from 0."""
    earlier = {(model.model, model.version): model for model in before.models}
    models = {(model.model, model.version): grown(earlier.get((model.model, model.version)), model)
              for model in after.models}  # fmt: skip
    return Window(
        duration_ns=after.taken_ns - before.taken_ns,
        models={key: model for key, model in models.items() if model is not None},
        reloaded=frozenset(key[0] for key, model in models.items() if model is None),
        source=after.origin,
    )


def grown(before: ModelStatistics | None, after: ModelStatistics) -> ModelStatistics | None:
    """Return by how much one model's counters grew, None where one shrank: the model was loaded anew."""
    if before is None:
        return after
    totals = {name: getattr(after, name) - getattr(before, name) for name in _TOTALS}
    if any(value < 0 for value in totals.values()):
        return None
    return msgspec.structs.replace(after, **totals, batches=_batches(before.batches, after.batches))


def host_between(before: HostSample, after: HostSample) -> HostWindow | None:
    """Return the cores that were busy, None if the samples are not of one host, in order."""
    duration_ns = after.taken_ns - before.taken_ns
    if duration_ns <= 0 or after.cpu_busy_ns < before.cpu_busy_ns:
        return None
    return HostWindow(after.cores, (after.cpu_busy_ns - before.cpu_busy_ns) / duration_ns)


def one_life(samples: Sequence[StatisticsSample], model: str) -> Sequence[StatisticsSample]:
    """Return the last samples between which `model` was not loaded anew, and the host not started anew."""
    begin = 0
    for number, (before, after) in enumerate(pairwise(samples), 1):
        if after.taken_ns <= before.taken_ns or model in between(before, after).reloaded:
            begin = number
    return samples[begin:]


def with_traffic(samples: Sequence[StatisticsSample], model: str) -> Sequence[StatisticsSample]:
    """Return the samples without those before the first and after the last request of `model`."""
    counts = [sum(entry.requests for entry in sample.models if entry.model == model) for sample in samples]
    first = sum(1 for _ in takewhile(lambda count: count == counts[0], counts)) - 1
    last = len(counts) - sum(1 for _ in takewhile(lambda count: count == counts[-1], reversed(counts)))
    return samples[first : last + 1] if first < last else samples


def _batches(before: Sequence[BatchStatistics], after: Sequence[BatchStatistics]) -> tuple[BatchStatistics, ...]:
    earlier = {batch.batch_size: batch for batch in before}
    return tuple(_batch(earlier.get(batch.batch_size), batch) for batch in after)


def _batch(before: BatchStatistics | None, after: BatchStatistics) -> BatchStatistics:
    if before is None:
        return after
    return BatchStatistics(
        after.batch_size,
        after.executions - before.executions,
        after.input_ns - before.input_ns,
        after.infer_ns - before.infer_ns,
        after.output_ns - before.output_ns,
    )
