"""From a run file to the pipeline that is analyzed, and to the evidence about it."""

import pytest

from tests.unit.analyze.builders import closed_loop, counted, never_counted, python_stage, serial, whole
from tritonscope.analyze.evidence import Level, evidence_of
from tritonscope.analyze.models import choose_pipeline, repository_of, with_files
from tritonscope.errors import ConfigError, RepositoryError, UsageError
from tritonscope.evidence import HostSample, StatisticsSample
from tritonscope.records import BatchRecord, InstanceRecord
from tritonscope.repository.stages import Repository, Step
from tritonscope.runs import ConfigLine, Header, Run

SECOND = 1_000_000_000


def ensemble(name: str, *models: str):
    steps = tuple(
        Step(model, -1, {"IN": f"t{number}"}, {"OUT": f"t{number + 1}"}) for number, model in enumerate(models)
    )
    return python_stage(name, ())._replace(backend="ensemble", steps=steps)


def repository(*stages) -> Repository:
    return Repository({stage.name: stage for stage in stages})


def recorded(**fields) -> Run:
    empty = {"instances": {}, "batches": {}, "statistics": (), "hosts": (), "loads": (), "configs": {}}
    return Run(Header("tritonscope-run", 1, "0", 0, 0), **{**empty, **fields})


def sample(taken_s: float, *counters) -> StatisticsSample:
    return StatisticsSample(round(taken_s * SECOND), counters)


class TestChoosingThePipeline:
    ONE = repository(ensemble("ocr", "detect"), python_stage("detect"))
    TWO = repository(ensemble("ocr", "detect"), ensemble("asr", "detect"), python_stage("detect"))

    def test_the_only_ensemble_needs_no_name(self):
        assert choose_pipeline(self.ONE, None).name == "ocr"

    def test_a_step_of_another_ensemble_is_no_choice(self):
        nested = repository(*self.ONE.stages.values(), ensemble("outer", "ocr"))
        assert choose_pipeline(nested, None).name == "outer"

    def test_of_several_the_one_with_traffic_is_meant(self):
        run = recorded(
            statistics=(sample(0, counted("asr", 5, 1)), sample(1, counted("asr", 9, 1), never_counted("ocr")))
        )
        assert choose_pipeline(self.TWO, run).name == "asr"

    @pytest.mark.parametrize(
        "run",
        [
            None,
            recorded(),
            recorded(statistics=(sample(0), sample(1, counted("asr", 1, 1), counted("ocr", 1, 1)))),
            recorded(statistics=(sample(0), sample(1))),
        ],
    )
    def test_otherwise_it_must_be_named(self, run):
        with pytest.raises(UsageError, match="2 pipelines: choose one with --model: asr, ocr"):
            choose_pipeline(self.TWO, run)
        assert choose_pipeline(self.TWO, run, "ocr").name == "ocr"

    def test_a_name_that_is_none_lists_those_that_are(self):
        with pytest.raises(RepositoryError, match="there is no model 'orc'; found: 'asr', 'detect', 'ocr'"):
            choose_pipeline(self.TWO, None, "orc")

    def test_a_single_model_is_a_pipeline_of_one_stage(self):
        (node,) = choose_pipeline(repository(python_stage("alone")), None).nodes
        assert node.stage.name == "alone"

    def test_a_broken_configuration_is_not_hidden_by_a_question(self):
        broken = ConfigError("ocr/config.pbtxt:3:1: no")
        with pytest.raises(ConfigError, match=r"ocr/config.pbtxt:3:1"):
            choose_pipeline(Repository({}, (broken,), {"ocr": broken}), None)


class TestModelsOfARun:
    def test_configurations_come_as_json_or_as_text(self):
        found = repository_of([
            ConfigLine("a", {"backend": "python", "instance_group": [{"kind": "KIND_CPU", "count": 3}]}),
            ConfigLine("b", text='backend: "onnxruntime"', path="models/b/config.pbtxt"),
        ])  # fmt: skip
        assert found.stages["a"].instances.known == 3
        assert (found.stages["b"].backend, found.stages["b"].text) == ("onnxruntime", 'backend: "onnxruntime"')

    def test_one_that_does_not_parse_is_a_problem_of_its_own(self):
        found = repository_of([ConfigLine("a", {"instance_group": 7}), ConfigLine("b", {"backend": "python"})])
        assert list(found.stages) == ["b"]
        assert "instance_group" in str(found.problems[0])

    def test_files_add_their_text_to_what_the_server_said(self):
        server = repository(python_stage("a"))
        files = repository(python_stage("a", (), text="count: 9"), python_stage("other"))
        merged = with_files(server, files)
        assert merged.stages["a"].instances.known == 1
        assert merged.stages["a"].text == "count: 9"
        assert "other" not in merged.stages
        assert with_files(Repository({}), files) == files


class TestEvidenceOfARun:
    PIPELINE = serial("pipeline", python_stage("decode"))

    def samples(self):
        return tuple(
            sample(taken_s, whole("pipeline", requests, 12), counted("decode", requests, 10))
            for taken_s, requests in [(10, 100), (20, 100), (30, 900), (40, 900)]
        )

    def test_the_window_is_that_of_the_traffic(self):
        evidence = evidence_of(self.PIPELINE, recorded(statistics=self.samples()))
        assert (evidence.level, evidence.window.duration_ns) == (Level.STATISTICS, 10 * SECOND)
        assert evidence.window.of("decode").requests == 800

    def test_the_host_is_that_of_the_same_time(self):
        hosts = tuple(HostSample(taken_s * SECOND, 2, busy_s * SECOND) for taken_s, busy_s in
                      [(10, 1), (20, 2), (30, 17), (40, 18)])  # fmt: skip
        evidence = evidence_of(self.PIPELINE, recorded(statistics=self.samples(), hosts=hosts))
        assert evidence.host.busy_cores == 1.5

    def test_the_load_is_the_last_one_of_this_pipeline(self):
        loads = (closed_loop("pipeline", 4, 10), closed_loop("pipeline", 8, 10), closed_loop("decode", 2, 10))
        evidence = evidence_of(self.PIPELINE, recorded(statistics=self.samples(), loads=loads))
        assert evidence.load.concurrency == 8

    def test_records_count_instances_and_keep_the_batches_of_the_window(self):
        batches = [
            BatchRecord(number, start_s * SECOND, SECOND, SECOND, ()) for number, start_s in enumerate([5, 25, 35])
        ]
        run = recorded(
            statistics=self.samples(),
            instances={key: InstanceRecord("decode", "1", key, 1) for key in ("decode_0_0", "decode_0_1")},
            batches={"decode_0_0": batches, "decode_0_1": batches[:2]},
        )
        evidence = evidence_of(self.PIPELINE, run)
        assert evidence.level is Level.RECORDS
        assert evidence.records["decode"].instances == 2
        assert [batch.sequence for batch in evidence.records["decode"].batches] == [1, 1]

    def test_one_sample_measures_nothing(self):
        evidence = evidence_of(self.PIPELINE, recorded(statistics=self.samples()[:1]))
        assert evidence.level is Level.CONFIGURATION
