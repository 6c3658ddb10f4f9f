"""Triton's statistics document: numbers or texts, whole or in part."""

from tests.unit.sources.fake_triton import model_stats
from tritonscope.evidence import BatchStatistics, ModelStatistics
from tritonscope.sources.stats_json import read_statistics


def stringed(value):
    """As protobuf's JSON writes 64-bit numbers."""
    if isinstance(value, dict):
        return {key: stringed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [stringed(inner) for inner in value]
    return str(value) if isinstance(value, int) else value


def test_numbers_and_texts_mean_the_same():
    document = {"model_stats": [model_stats("decode", 4, infer_ms=9, queue_ms=1)]}
    sample = read_statistics(document, 7, "here")
    assert read_statistics(stringed(document), 7, "here") == sample
    (model,) = sample.models
    assert (model.requests, model.executions, model.queue_ns, model.compute_infer_ns) == (
        4,
        4,
        4_000_000,
        36_000_000,
    )
    assert model.batches == (BatchStatistics(1, 4, 0, 36_000_000, 0),)


def test_what_a_server_leaves_out_counts_nothing():
    """Decoupled models may have no statistics, protobuf leaves zeros out, and null stands for empty."""
    document = {
        "model_stats": [{"name": "m", "version": "2"}, {"name": "n", "inference_stats": None, "batch_stats": None}]
    }
    assert read_statistics(document, 0, "").models == (
        ModelStatistics("m", "2", *[0] * 9), ModelStatistics("n", "1", *[0] * 9),
    )  # fmt: skip
    assert read_statistics({}, 0, "").models == ()


def test_answers_from_the_cache_are_counted():
    entry = model_stats("m", 5, infer_ms=1)
    entry["inference_stats"]["cache_hit"] = {"count": 3, "ns": 9}
    assert read_statistics({"model_stats": [entry]}, 0, "").models[0].cache_hits == 3
