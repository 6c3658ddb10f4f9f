"""Triton's statistics, as `/v2/models/stats` writes them, to the counters of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tritonscope.evidence import BatchStatistics, ModelStatistics, StatisticsSample


def read_statistics(document: Mapping[str, Any], taken_ns: int, origin: str) -> StatisticsSample:
    """Return the sample that a statistics document holds; numbers may be numbers or texts, and may be missing."""
    models = tuple(_model(entry) for entry in document.get("model_stats") or ())
    return StatisticsSample(taken_ns, models, origin)


def _model(entry: Mapping[str, Any]) -> ModelStatistics:
    totals = entry.get("inference_stats") or {}
    return ModelStatistics(
        model=entry["name"],
        version=str(entry.get("version", "1")),
        inferences=_number(entry, "inference_count"),
        executions=_number(entry, "execution_count"),
        requests=_count(totals, "success"),
        failures=_count(totals, "fail"),
        request_ns=_ns(totals, "success"),
        queue_ns=_ns(totals, "queue"),
        compute_input_ns=_ns(totals, "compute_input"),
        compute_infer_ns=_ns(totals, "compute_infer"),
        compute_output_ns=_ns(totals, "compute_output"),
        cache_hits=_count(totals, "cache_hit"),
        batches=tuple(_batch(batch) for batch in entry.get("batch_stats") or ()),
    )


def _batch(batch: Mapping[str, Any]) -> BatchStatistics:
    return BatchStatistics(
        batch_size=_number(batch, "batch_size"),
        executions=_count(batch, "compute_infer"),
        input_ns=_ns(batch, "compute_input"),
        infer_ns=_ns(batch, "compute_infer"),
        output_ns=_ns(batch, "compute_output"),
    )


def _count(values: Mapping[str, Any], key: str) -> int:
    return _number(values.get(key) or {}, "count")


def _ns(values: Mapping[str, Any], key: str) -> int:
    return _number(values.get(key) or {}, "ns")


def _number(values: Mapping[str, Any], key: str) -> int:
    return int(values.get(key) or 0)
