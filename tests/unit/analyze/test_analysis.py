"""The finished analysis: its verdict in one line, its rows, and what else a reader should know."""

import pytest

from tests.unit.analyze.builders import (
    CPU_2,
    closed_loop,
    counted,
    gpu_stage,
    one_stage,
    python_stage,
    serial,
    whole,
    window,
    with_host,
)
from tritonscope.analyze.analysis import analyze
from tritonscope.analyze.evidence import Evidence, StageRecords
from tritonscope.records import BatchRecord


def test_the_verdict_names_throttle_evidence_change_and_next_limit():
    evidence = with_host(one_stage(load=closed_loop("pipeline", 6, 56)), cores=2, busy_cores=1.4)
    verdict = analyze(evidence).verdict
    assert verdict.startswith("slow throttles pipeline: 1 instance, busy 0.98, its queue is 80% of request time; ")
    assert "count: 2 would buy +" in verdict
    assert verdict.endswith("and then the CPU (2 cores) binds")


def test_the_verdict_says_when_the_change_buys_nothing():
    stage = python_stage("slow", CPU_2)
    evidence = with_host(one_stage(busy=1.97, stage=stage, load=closed_loop("pipeline", 11, 56)), 2, 2.0)
    assert analyze(evidence).verdict.endswith("count: 3 would buy less than 5%: the CPU (2 cores) binds")


def test_a_cpu_that_others_fill_is_no_certain_limit():
    """The stages explain 1.1 of 2 busy cores: if what else runs there goes, there is room."""
    evidence = with_host(one_stage(load=closed_loop("pipeline", 6, 56)), cores=2, busy_cores=2.0)
    assert "count: 2 would buy less than 5% (at most +" in analyze(evidence).verdict


@pytest.mark.parametrize(
    ("stages", "verdict"),
    [
        (
            [python_stage("a"), python_stage("b"), python_stage("c", CPU_2)],
            "not measured: what may throttle p is a or b",
        ),
        ([python_stage("c", CPU_2)], "not measured, and no Python stage of p has a single instance"),
    ],
)
def test_without_measurement_the_verdict_is_none(stages, verdict):
    analysis = analyze(Evidence(serial("p", *stages)))
    assert (analysis.verdict, analysis.level) == (verdict, "configuration")
    assert all(row.busy is None for row in analysis.stages)


def test_without_requests_the_verdict_says_that():
    evidence = Evidence(serial("p", python_stage("a")), window(10))
    assert analyze(evidence).verdict == "p had no request while it was measured"


def test_rows_tell_the_roles():
    rows = {row.model: row for row in analyze(one_stage()).stages}
    assert (rows["slow"].role, rows["fast"].role) == ("throttle", "")
    assert rows["slow"].busy == pytest.approx(0.98)


def test_traffic_tells_both_sides():
    evidence = with_host(one_stage(load=closed_loop("pipeline", 6, 60)), cores=2, busy_cores=1.4)
    traffic = analyze(evidence).traffic
    assert (traffic.requests, traffic.in_flight, traffic.client_latency_ns) == (980, 6, 60_000_000)
    assert (traffic.busy_cores, traffic.cores) == (1.4, 2)


def test_without_a_report_of_the_client_requests_in_flight_follow_from_their_times():
    assert analyze(one_stage(busy=0.5, queue_share=0.0)).traffic.in_flight == pytest.approx(0.55)


def test_a_stage_that_serves_others_too_is_pointed_out():
    evidence = Evidence(
        serial("p", python_stage("shared"), gpu_stage("own")),
        window(10, whole("p", 100, 5), counted("shared", 250, 1), counted("own", 100, 1)),
    )
    (note,) = analyze(evidence).notes
    assert "meets shared 2.50 times, by the graph 1" in note


def test_a_client_that_sends_batches_is_no_reason_for_a_note():
    evidence = Evidence(
        serial("p", python_stage("stage")),
        window(10, whole("p", 100, 5, inferences=1600), counted("stage", 100, 1, inferences=1600)),
    )
    assert analyze(evidence, ["one"]).notes == ("one",)


def test_records_tell_how_much_of_execute_was_cpu_time():
    batches = [BatchRecord(0, 0, 100, 80, ()), BatchRecord(1, 0, 100, 40, ()), BatchRecord(2, 0, 999, -1, ())]
    evidence = one_stage()._replace(records={"slow": StageRecords(1, batches)})
    analysis = analyze(evidence)
    assert analysis.level == "records"
    shares = [fact.value for fact in analysis.findings[0].evidence if fact.name == "CPU share of execute"]
    assert shares == [0.6]
