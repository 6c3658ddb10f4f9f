"""Each pass: silent without evidence, speaks where it should, and holds back where it nearly should."""

import pytest

from tests.unit.analyze.builders import (
    CPU_1,
    CPU_2,
    GPU_1,
    closed_loop,
    counted,
    never_counted,
    one_stage,
    python_stage,
    serial,
    whole,
    window,
    with_host,
)
from tritonscope.analyze.analysis import analyze
from tritonscope.analyze.evidence import Evidence
from tritonscope.analyze.findings import Severity
from tritonscope.analyze.passes import PASSES
from tritonscope.analyze.passes.configuration import configuration
from tritonscope.analyze.passes.judging import cannot_judge
from tritonscope.analyze.passes.load import client_bound, no_throttle
from tritonscope.analyze.passes.throttle import co_limiting, single_instance_python_stage, throttle
from tritonscope.analyze.window import Window
from tritonscope.repository.stages import InstanceGroup, Stage

EMPTY = Evidence(serial("pipeline"))
CONFIGURED = Evidence(serial("pipeline", python_stage("slow"), python_stage("fast", CPU_2)))
QUIET = CONFIGURED._replace(window=window(10, never_counted("pipeline"), never_counted("slow")))
SAMPLED_AT_ONCE = CONFIGURED._replace(window=Window(0, {}))


@pytest.mark.parametrize("judge", PASSES)
@pytest.mark.parametrize("evidence", [EMPTY, SAMPLED_AT_ONCE, EMPTY._replace(window=window(10))])
def test_every_pass_survives_evidence_that_says_nothing(judge, evidence):
    assert all(finding.rule in {"cannot-judge", "configuration"} for finding in judge(evidence))


@pytest.mark.parametrize("judge", [throttle, single_instance_python_stage, co_limiting, no_throttle, client_bound])
@pytest.mark.parametrize("evidence", [CONFIGURED, QUIET])
def test_nothing_is_judged_that_was_not_measured(judge, evidence):
    assert judge(evidence) == []


def two_stages(first_ms: float, second_ms: float, *, busy: float, queue_ms: float, load=None) -> Evidence:
    """Ten seconds of two Python stages; the first is as busy as given and both have queues."""
    requests = round(busy * 1e4 / first_ms)
    return Evidence(
        serial("pipeline", python_stage("one"), python_stage("two")),
        window(
            10, whole("pipeline", requests, first_ms + second_ms + 2 * queue_ms),
            counted("one", requests, first_ms, queue_ms=queue_ms),
            counted("two", requests, second_ms, queue_ms=queue_ms),
        ),
        load=load,
    )  # fmt: skip


class TestThrottle:
    def test_a_full_stage_with_a_queue_is_named(self):
        (finding,) = throttle(one_stage(busy=0.91))
        assert (finding.model, finding.severity) == ("slow", Severity.CRITICAL)

    @pytest.mark.parametrize(
        "evidence", [one_stage(busy=0.89, queue_share=0.4), one_stage(busy=0.98, queue_share=0.04)]
    )
    def test_a_stage_that_has_room_or_no_queue_is_not(self, evidence):
        assert throttle(evidence) == []

    def test_a_less_busy_one_is_named_if_requests_spend_half_their_time_in_its_queue(self):
        assert throttle(one_stage(busy=0.75, queue_share=0.6))
        assert not throttle(one_stage(busy=0.65, queue_share=0.6))

    def test_several_instances_get_their_change_here(self):
        stage = python_stage("slow", CPU_2)
        evidence = one_stage(busy=1.96, stage=stage, load=closed_loop("pipeline", 11, 56))
        (finding,) = throttle(evidence)
        assert "count: " in finding.advice
        assert finding.effect.gain > 0.3
        assert single_instance_python_stage(evidence) == []

    def test_more_instances_are_not_advised_on_a_full_cpu(self):
        evidence = with_host(one_stage(load=closed_loop("pipeline", 6, 56)), cores=2, busy_cores=1.97)
        (finding,) = throttle(evidence)
        assert "the CPU is full (1.97 of 2 cores, at most 1.08 of them in stages)" in finding.advice
        assert finding.effect.gain < 0.05
        assert finding.effect.binds_next == "the CPU (2 cores)"
        assert single_instance_python_stage(evidence) == []


class TestSingleInstancePythonStage:
    def test_the_change_is_predicted_up_to_the_next_ceiling(self):
        """The CPU of two cores, 1.4 of them busy, does not let the second instance double anything."""
        evidence = with_host(one_stage(load=closed_loop("pipeline", 6, 56)), cores=2, busy_cores=1.4)
        (finding,) = single_instance_python_stage(evidence)
        assert finding.effect.change == "count: 2"
        assert finding.effect.per_s == pytest.approx(98 * 2 / 1.4, rel=0.05)
        assert finding.effect.binds_next == "the CPU (2 cores)"

    def test_a_change_in_a_file_is_shown_as_a_diff(self, tmp_path):
        text = 'backend: "python"\ninstance_group [{ kind: KIND_CPU count: 1 }]\n'
        stage = python_stage("slow", path=tmp_path / "slow" / "config.pbtxt", text=text)
        (finding,) = single_instance_python_stage(one_stage(stage=stage))
        assert "-instance_group [{ kind: KIND_CPU count: 1 }]\n" in finding.diff
        assert "+instance_group [{ kind: KIND_CPU count: " in finding.diff

    def test_without_a_file_the_setting_is_spelt_out(self):
        (finding,) = single_instance_python_stage(one_stage())
        assert "instance_group [ { kind: KIND_CPU count: " in finding.advice
        assert finding.diff == ""

    def test_a_stage_of_another_backend_is_left_alone(self):
        assert single_instance_python_stage(one_stage(stage=Stage("slow", "onnxruntime", 0, CPU_1))) == []


class TestCoLimiting:
    def test_stages_within_ten_percent_are_named_together(self):
        (finding,) = co_limiting(two_stages(10, 9.2, busy=0.95, queue_ms=20))
        assert "one and two" in finding.title
        assert finding.severity is Severity.WARNING  # the throttle is a finding of its own

    def test_beyond_that_they_are_not(self):
        assert co_limiting(two_stages(10, 9.0, busy=0.95, queue_ms=20)) == []

    def test_one_that_is_busier_but_has_no_queue_is_named_after_the_throttle(self):
        """Its queue is what the throttle before it lets through."""
        evidence = Evidence(
            serial("pipeline", python_stage("one"), python_stage("two")),
            window(10, whole("pipeline", 950, 80), counted("one", 950, 10, queue_ms=60), counted("two", 950, 10.3)),
        )
        (finding,) = co_limiting(evidence)
        assert (finding.model, throttle(evidence)[0].model) == ("one", "one")
        assert "one and two" in finding.title

    def test_two_idle_stages_limit_nothing(self):
        assert co_limiting(two_stages(10, 9.9, busy=0.6, queue_ms=20)) == []
        assert co_limiting(two_stages(10, 9.9, busy=0.8, queue_ms=0.1)) == []


class TestNoThrottle:
    def test_the_load_at_which_one_would_appear_is_told(self):
        (finding,) = no_throttle(one_stage(busy=0.5, queue_share=0.0))
        assert finding.model == "slow"
        assert "at about 100 requests/s" in finding.advice

    def test_it_is_silent_when_a_stage_is_full(self):
        assert no_throttle(one_stage(busy=0.95)) == []

    def test_a_full_cpu_is_named_instead(self):
        (finding,) = no_throttle(with_host(one_stage(busy=0.5, queue_share=0.0), cores=4, busy_cores=3.9))
        assert finding.severity is Severity.CRITICAL
        assert "3.90 of 4 cores" in finding.title


class TestClientBound:
    def test_too_few_requests_in_flight(self):
        evidence = one_stage(busy=0.5, queue_share=0.0, load=closed_loop("pipeline", 1, 20))
        (finding,) = client_bound(evidence)
        assert finding.effect.gain > 0
        assert finding.effect.change == "4 requests in flight"

    def test_as_many_as_the_stages_can_take_are_enough(self):
        """11 ms in flight at 100/s are 1.1 requests."""
        assert client_bound(one_stage(busy=0.8, queue_share=0.0, load=closed_loop("pipeline", 2, 11))) == []

    def test_time_that_is_spent_outside_of_the_server(self):
        (finding,) = client_bound(one_stage(busy=0.4, queue_share=0.0, load=closed_loop("pipeline", 4, 100)))
        assert "89% of their time outside of the server" in finding.title

    def test_without_a_report_of_the_client_nothing_is_said_of_it(self):
        assert client_bound(one_stage(busy=0.1, queue_share=0.0)) == []


class TestCannotJudge:
    def test_a_stage_without_completions(self):
        evidence = one_stage(busy=0.5)
        models = {**evidence.window.models, ("fast", "1"): never_counted("fast")}
        (finding,) = cannot_judge(evidence._replace(window=evidence.window._replace(models=models)))
        assert finding.model == "fast"

    def test_a_model_that_was_loaded_anew(self):
        evidence = one_stage(busy=0.5)
        models = {key: model for key, model in evidence.window.models.items() if key[0] != "fast"}
        reloaded = evidence.window._replace(models=models, reloaded=frozenset({"fast"}))
        (finding,) = cannot_judge(evidence._replace(window=reloaded))
        assert "loaded anew" in finding.title

    def test_a_pipeline_without_requests(self):
        (finding,) = cannot_judge(QUIET)
        assert (finding.model, finding.rule) == ("pipeline", "cannot-judge")

    def test_stages_with_completions_can_be_judged(self):
        assert cannot_judge(one_stage(busy=0.1)) == []


class TestConfiguration:
    def test_single_python_instances_are_candidates(self):
        assert [finding.model for finding in configuration(CONFIGURED)] == ["slow"]
        assert configuration(CONFIGURED)[0].severity is Severity.INFO

    def test_one_instance_per_gpu_is_a_candidate_too(self):
        stages = [python_stage("absent", ()), python_stage("per_gpu", (InstanceGroup("GPU", 1),)),
                  python_stage("listed", GPU_1), python_stage("two", (InstanceGroup("GPU", 1, (0, 1)),)),
                  Stage("other", "onnxruntime", 0, CPU_1)]  # fmt: skip
        found = configuration(Evidence(serial("pipeline", *stages)))
        assert [finding.model for finding in found] == ["absent", "per_gpu", "listed"]

    def test_what_was_measured_counts_more(self):
        assert configuration(one_stage(busy=0.5)) == []


def test_findings_are_ordered_by_what_they_would_buy():
    findings = analyze(two_stages(10, 9.5, busy=0.97, queue_ms=50, load=closed_loop("pipeline", 8, 120))).findings
    ranks = [
        (list(Severity).index(finding.severity), -finding.effect.gain) for finding in findings if finding.effect
    ]
    assert len(ranks) > 1
    assert ranks == sorted(ranks)
