"""What people reported in public, and the verdict that must follow: rule, model, evidence and advice, not prose.

Numbers are those of the reports; where a report leaves one out, a comment says how it was filled in.
"""

import pytest

from tests.unit.analyze.builders import (
    CPU_2,
    GPU_1,
    by_rule,
    closed_loop,
    counted,
    facts,
    gpu_stage,
    never_counted,
    python_stage,
    serial,
    whole,
    window,
)
from tritonscope.analyze.analysis import analyze
from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.findings import Quality, Severity
from tritonscope.evidence import BatchStatistics, ModelStatistics
from tritonscope.repository.pipeline import Node, Pipeline
from tritonscope.repository.stages import Batching, InstanceGroup, Stage


def one_python_stage_behind_a_gpu() -> Evidence:
    """server#2760: segmentation on a GPU, then one Python process that encodes masks. 879 requests at 148.2/s."""
    segment = Stage("sfpn16", "pytorch", 32, (InstanceGroup("GPU", 2, (0,)),), Batching((), 150_000))
    encode = python_stage("pypost16", (InstanceGroup("CPU", 1),))
    return Evidence(
        serial("ensemble", segment, encode),
        window(
            879 / 148.2, whole("ensemble", 879, 864.293),
            # 175.917 ms a request, of which 1.456 overhead and 72.755 in the queue.
            counted("sfpn16", 40, 101.7, queue_ms=72.755, executions=40, inferences=931),
            counted("pypost16", 879, 3.459 + 3.105 + 0.209, queue_ms=657.469),
        ),
        load=closed_loop("ensemble", 128, 869.558),
    )  # fmt: skip


def test_the_python_stage_throttles_though_the_gpu_stage_takes_longer():
    """R01: each request of the GPU stage takes 176 ms, of the Python stage 7 ms; the latter is full."""
    analysis = analyze(one_python_stage_behind_a_gpu())
    found = by_rule(analysis.findings)
    assert found["throttle"].model == found["single-instance-python-stage"].model == "pypost16"
    seen = facts(found["throttle"])
    assert seen["busy"] == pytest.approx(1.0, abs=0.005)
    assert seen["queue share"] == pytest.approx(0.76, abs=0.01)
    assert seen["capacity of pypost16"] == pytest.approx(147.6, abs=0.1)
    assert seen["max_batch_size"] == 0
    assert "sfpn16" in found["throttle"].effect.binds_next
    assert found["single-instance-python-stage"].effect.gain > 1.5


def default_instances_on_two_gpus() -> Evidence:
    """flair-on-nvidia-triton: two Python stages without instance_group; 10070 requests at 93.24/s."""
    names = {"tokenization": ("python", ()), "tagger": ("pytorch", GPU_1), "viterbi-decoder": ("python", ())}
    stages = [Stage(name, backend, 0, groups) for name, (backend, groups) in names.items()]
    return Evidence(
        serial("ner", *stages),
        window(
            10070 / 93.2384, whole("ner", 10070, 42.650),
            counted("tokenization", 10073, 6.680, queue_ms=0.040),
            counted("tagger", 10072, 3.504, queue_ms=0.751),
            counted("viterbi-decoder", 10070, 21.424, queue_ms=10.221),
        ),
        load=closed_loop("ner", 4, 42.844),
    )  # fmt: skip


def test_busy_instances_tell_how_many_the_default_made():
    """R05: 2.00 busy instances are two instances, on two GPUs, both full; never "busy 200 %"."""
    analysis = analyze(default_instances_on_two_gpus())
    found = by_rule(analysis.findings)["throttle"]
    assert found.model == "viterbi-decoder"
    assert facts(found)["busy"] == pytest.approx(0.999, abs=0.002)
    instances = next(fact for fact in found.evidence if fact.name == "instances")
    assert (instances.value, instances.quality) == (2, Quality.LOWER_BOUND)
    assert instances.formula == (
        "instance_group absent: 1 per GPU; the measured 2.00 busy instances imply at least 2"
    )
    rows = {row.model: row for row in analysis.stages}
    # What one stage tells of the GPUs holds for the other one that runs on each of them.
    assert rows["tokenization"].instances == 2
    assert all(row.busy <= 1 for row in analysis.stages)


def test_a_stage_that_nobody_waits_for_is_no_throttle():
    """R06: 3530 requests of one at a time, 5.93 ms each: its time adds up, it bounds nothing."""
    stage = python_stage("tbo_preprocess")
    seconds = 3530 * 0.00593  # one after the other
    evidence = Evidence(
        serial(stage.name, stage), window(seconds, counted(stage.name, 3530, 5.888, queue_ms=0.042))
    )
    found = by_rule(analyze(evidence).findings)
    assert found.keys() == {"no-throttle"}
    assert found["no-throttle"].severity is Severity.INFO
    assert facts(found["no-throttle"])["queue share"] == pytest.approx(0.007, abs=0.001)
    assert facts(found["no-throttle"])["capacity of tbo_preprocess"] == pytest.approx(169.8, abs=0.1)


def two_stages_at_the_same_limit(detect_per_s: float = 88.0) -> Evidence:
    """cv-inference-triton: alone, preprocess does 87/s and the GPU 88/s; together 75/s with 5 in flight.

    The reports give no queues: what is left of the latency is split between the two.
    """
    request_ms = 5 / 75 * 1e3
    service_ms = 22.99 + 1e3 / detect_per_s + 6.02
    queue_ms = (request_ms - service_ms) / 2
    return Evidence(
        serial(
            "pipeline", python_stage("preprocess", CPU_2), gpu_stage("yolov8s_trt"), python_stage("post", CPU_2)
        ),
        window(
            30, whole("pipeline", 2250, request_ms),
            counted("preprocess", 2250, 22.99, queue_ms=queue_ms),
            counted("yolov8s_trt", 2250, 1e3 / detect_per_s, queue_ms=queue_ms),
            counted("post", 2250, 6.02),
        ),
        load=closed_loop("pipeline", 5, request_ms),
    )  # fmt: skip


def test_two_stages_with_one_limit_starve_each_other():
    """R11: neither gets to 0.9, and removing the first one alone moves nothing."""
    found = by_rule(analyze(two_stages_at_the_same_limit()).findings)
    assert "throttle" not in found
    assert "no-throttle" not in found
    co_limiting = found["co-limiting"]
    assert co_limiting.model == "preprocess"
    assert "preprocess and yolov8s_trt" in co_limiting.title
    assert "buys +1%" in co_limiting.title
    assert facts(co_limiting)["capacity of yolov8s_trt"] == pytest.approx(88, abs=0.1)
    # The ceiling behind both is the postprocessing, 332/s.
    assert co_limiting.effect.binds_next in {"post", "5 requests in flight"}


def dali_before_python(concurrency: int) -> Evidence:
    """server#3245: DALI, ONNX, Python. The excerpt has DALI's times; the others share the rest of the compute."""
    stages = [
        Stage("dali", "dali", 256, GPU_1),
        Stage("onnx", "onnxruntime", 256, (InstanceGroup("GPU", 2, (0,)),)),
        python_stage("post", max_batch_size=256),
    ]
    if concurrency == 1:
        counters = (
            whole("ensemble", 326, 30.5), counted("dali", 326, 19.4), counted("onnx", 326, 6.6),
            counted("post", 326, 4.2),
        )  # fmt: skip
        return Evidence(
            serial("ensemble", *stages), window(10, *counters), load=closed_loop("ensemble", 1, 30.7)
        )  # fmt: skip
    counters = (
        whole("ensemble", 82, 288.660, inferences=1312),
        counted("dali", 83, 72.547, queue_ms=106.897, inferences=1328),
        counted("onnx", 82, 61.0, inferences=1312), counted("post", 82, 47.9, inferences=1312),
    )  # fmt: skip
    return Evidence(
        serial("ensemble", *stages), window(82 * 16 / 217.6, *counters), load=closed_loop("ensemble", 4, 291.069)
    )


def test_the_throttle_may_be_no_python_stage():
    """R19: four in flight, 16 images each: DALI is full; the Python stage behind it is not to blame."""
    found = by_rule(analyze(dali_before_python(4)).findings)
    assert found["throttle"].model == "dali"
    assert found["throttle"].diff == ""
    assert "single-instance-python-stage" not in found
    # 83 executions in 6.03 s are 13.8 batches of 16 a second: 220 images, and 217.6 were seen.
    assert facts(found["throttle"])["capacity of dali"] * 16 == pytest.approx(220, rel=0.01)


def test_one_request_in_flight_says_nothing_about_a_throttle():
    """R19, concurrency 1: times of stages add up; measure again with more load before judging."""
    found = by_rule(analyze(dali_before_python(1)).findings)
    assert found.keys() == {"client-bound", "no-throttle"}
    assert "requests in flight" in found["client-bound"].advice
    assert found["client-bound"].effect.gain > 0.3


def test_busy_time_counts_a_batch_once():
    """R02, step 5: 386 executions took 18.0 s, while `inference_stats` adds up 79.0 s of the same time."""
    batches = [(1, 26, 760_805_750), (2, 127, 3_746_179_389), (3, 55, 2_159_249_609), (4, 9, 459_592_504),
               (5, 73, 4_300_370_653), (6, 82, 5_619_518_519), (7, 14, 1_112_777_684)]  # fmt: skip
    counters = ModelStatistics(
        "food_classifier", "1", 1436, 386, 1436, 0, 144_129_653_806, 64_542_800_676, 283_368_073, 78_984_688_177,
        309_635_270, batches=tuple(BatchStatistics(size, count, 0, ns, 0) for size, count, ns in batches),
    )  # fmt: skip
    stage = Stage("food_classifier", "python", 16, GPU_1, Batching((4, 6, 8, 10), 100))
    evidence = Evidence(
        serial(stage.name, stage), window(1436 / 78.6276, counters), load=closed_loop(stage.name, 8, 101.232)
    )
    found = by_rule(analyze(evidence).findings)
    seen = facts(found["throttle"])
    assert seen["busy"] == pytest.approx(0.994, abs=0.002)
    assert seen["batch"] == pytest.approx(3.72, abs=0.01)
    # On a GPU whose room was not measured, a second instance may buy nothing.
    assert found["single-instance-python-stage"].effect.gain_bounds[0] <= 0


def test_nothing_is_invented_where_every_stage_is_idle():
    """R30: stages at less than half, no queue, many in flight: the time is in no stage."""
    stages = [python_stage(name, CPU_2) for name in ("preprocess", "inference")]
    evidence = Evidence(
        serial("ensemble", *stages),
        window(10, whole("ensemble", 80_000, 8.0), counted("preprocess", 80_000, 0.093),
               counted("inference", 80_000, 0.045)),
        load=closed_loop("ensemble", 64, 8.0),
    )  # fmt: skip
    found = by_rule(analyze(evidence).findings)
    assert found.keys() == {"no-throttle"}
    assert "98% of request time is in none of them" in found["no-throttle"].title


def test_parallel_heads_do_not_wait_one_after_the_other():
    """R32: one request makes eight at once of one model; their waiting is not eight times the request's time."""
    head = python_stage("head")
    pipeline = Pipeline("ensemble", tuple(Node(head) for _ in range(8)))
    evidence = Evidence(
        pipeline, window(60, whole("ensemble", 177, 337.7), counted("head", 8 * 177, 40.0, queue_ms=287.3))
    )
    analysis = analyze(evidence)
    (row,) = analysis.stages
    assert row.visits == 8
    assert row.queue_share == pytest.approx(0.85, abs=0.01)
    assert analysis.layers == (("head",) * 8,)


def test_a_counter_that_stands_still_is_no_idle_stage():
    """R33: the ensemble has 59 successes, its decoupled model 0: it cannot be judged."""
    llm = python_stage("tensorrt_llm", decoupled=True)
    stages = (python_stage("preprocessing"), llm, python_stage("postprocessing"))
    evidence = Evidence(
        serial("ensemble", *stages),
        window(60, whole("ensemble", 59, 900.0), counted("preprocessing", 59, 1.0), never_counted("tensorrt_llm"),
               counted("postprocessing", 590, 0.5)),
    )  # fmt: skip
    analysis = analyze(evidence)
    found = by_rule(analysis.findings)
    assert found["cannot-judge"].model == "tensorrt_llm"
    assert facts(found["cannot-judge"]) == {"completions": 0, "pipeline requests": 59}
    assert "that can be judged" in found["no-throttle"].title
    row = next(row for row in analysis.stages if row.model == "tensorrt_llm")
    assert (row.role, row.busy) == ("not judged", None)
