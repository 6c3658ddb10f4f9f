"""InProcessServer: what it loads and refuses, what it leaves behind, and what it counts."""

from __future__ import annotations

import json
import logging
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.unit.testing.small_models import ADD_ONE, CPU, INPUT, OUTPUT
from tritonscope.errors import ConfigError, RepositoryError, UsageError
from tritonscope.testing import InProcessServer

BATCHED = f"max_batch_size: 8\n{INPUT}{OUTPUT}{CPU}"


ADDS_AMOUNT = ADD_ONE.replace("x + 1", "x + AMOUNT").replace(
    "import triton", "from helper import AMOUNT\n    import triton"
)
GATED = ADD_ONE.replace("return [self", "self.begun.set(); self.gate.wait(20); return [self").replace(
    "def execute",
    "def initialize(self, args):\n"
    "            import threading\n"
    "            self.gate, self.begun = threading.Event(), threading.Event()\n\n"
    "        def execute",
)


def spy_on(server: InProcessServer, model: str) -> list:
    """Return the list that will hold every request that the model's first instance gets."""
    instance = server.instances(model)[0]
    execute, seen = instance.execute, []

    def spy(requests: list) -> list:
        seen.extend(requests)
        return execute(requests)

    instance.execute = spy
    return seen


def test_the_modules_are_there_only_while_a_server_runs(write_model, serve, x, tmp_path) -> None:
    write_model("add_one")
    path = list(sys.path)

    with InProcessServer(tmp_path) as server:
        assert "triton_python_backend_utils" in sys.modules
        assert server.infer("add_one", x).outputs["Y"].tolist() == [2, 3]

    assert "triton_python_backend_utils" not in sys.modules
    assert "c_python_backend_utils" not in sys.modules
    assert "1.model" not in sys.modules
    assert sys.path == path


def test_modules_that_were_there_before_come_back(write_model, tmp_path, monkeypatch) -> None:
    write_model("add_one")
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", sys)

    with InProcessServer(tmp_path):
        assert sys.modules["triton_python_backend_utils"] is not sys

    assert sys.modules["triton_python_backend_utils"] is sys


def test_a_second_server_is_refused(write_model, serve, tmp_path) -> None:
    write_model("add_one")
    serve()

    with pytest.raises(UsageError, match="already runs"), InProcessServer(tmp_path):
        pass


def test_a_model_that_does_not_load_stops_the_server_with_tritons_text(write_model, tmp_path) -> None:
    write_model("broken", "raise ValueError('no such luck')")

    with pytest.raises(
        RepositoryError, match=r"load failed for model 'broken'.*ValueError: no such luck"
    ) as raised:
        InProcessServer(tmp_path).__enter__()

    assert isinstance(raised.value.__cause__, RepositoryError)
    assert "triton_python_backend_utils" not in sys.modules


def test_a_failed_start_lets_the_next_server_run(write_model, tmp_path, x) -> None:
    write_model("broken", "raise ValueError")
    write_model("add_one")
    with pytest.raises(RepositoryError):
        InProcessServer(tmp_path).__enter__()

    with InProcessServer(tmp_path, models=["add_one"]) as server:
        assert not server.infer("add_one", x).error


def test_a_missing_repository_is_named(tmp_path) -> None:
    with pytest.raises(RepositoryError, match=r"no model repository .*nowhere"):
        InProcessServer(tmp_path / "nowhere").__enter__()


def test_a_config_that_does_not_parse_names_the_line(write_model, tmp_path) -> None:
    write_model("odd", config="no_such_field: 1\n")

    with pytest.raises(RepositoryError, match=r"config\.pbtxt: 2:1") as raised:
        InProcessServer(tmp_path).__enter__()

    assert isinstance(raised.value.__cause__, ConfigError)


def test_models_of_other_backends_are_refused(write_model, tmp_path) -> None:
    (write_model("net") / "config.pbtxt").write_text('backend: "onnxruntime"\n')

    with pytest.raises(RepositoryError, match="needs the backend 'onnxruntime'"):
        InProcessServer(tmp_path).__enter__()


def test_an_unknown_model_is_an_error_of_the_result(write_model, serve, x) -> None:
    write_model("add_one")

    result = serve().infer("other", x)

    assert (result.error, result.code) == ("Request for unknown model: 'other' is not found", "NOT_FOUND")
    assert result.outputs == {}


def test_waiting_for_a_silent_model_ends_with_advice(write_model, serve, x) -> None:
    write_model("silent", "class TritonPythonModel:\n    def execute(self, requests): return None\n")

    with pytest.raises(TimeoutError, match="did the model return None"):
        serve().infer("silent", x, timeout_s=0.05)


def test_helpers_of_the_same_name_do_not_meet(write_model, serve, x) -> None:
    for name, amount in (("one", 1), ("two", 2)):
        folder = write_model(name, ADDS_AMOUNT)
        (folder / "1" / "helper.py").write_text(f"AMOUNT = {amount}\n")

    server = serve()

    assert [server.infer(name, x).outputs["Y"][0] for name in ("one", "two", "one")] == [2, 3, 2]


def test_inputs_of_the_caller_stay_as_they_are(write_model, serve, x) -> None:
    write_model("writes", ADD_ONE.replace("x + 1", "x.__iadd__(1)"))

    assert serve().infer("writes", x).outputs["Y"].tolist() == [2, 3]
    assert x["X"].tolist() == [1, 2]


def test_what_a_model_raised_is_logged_with_its_own_frames_only(write_model, serve, x, caplog) -> None:
    folder = write_model("raises", "class TritonPythonModel:\n    def execute(self, requests): return 1 / 0\n")
    server = serve()

    with caplog.at_level(logging.ERROR, "tritonscope.testing"):
        result = server.infer("raises", x)

    assert result.error.endswith("ZeroDivisionError: division by zero")
    assert str(folder / "1" / "model.py") in caplog.text
    assert "testing/model.py" not in caplog.text
    assert [line.level for line in server.log_lines] == ["ERROR"]


def test_log_lines_know_where_they_were_written(write_model, serve, x) -> None:
    folder = write_model("logs", ADD_ONE.replace("return [self", "pb_utils.Logger.log_warn('here'); return [self"))
    server = serve()

    server.infer("logs", x)

    (line,) = server.log_lines
    assert (line.level, line.message, line.file) == ("WARNING", "here", str(folder / "1" / "model.py"))
    assert "log_warn" in Path(line.file).read_text().splitlines()[line.line - 1]


def test_a_batch_counts_once_and_its_requests_one_by_one(write_model, serve) -> None:
    write_model("add_one", config=BATCHED + "dynamic_batching { preferred_batch_size: [ 4 ] "
                                            "max_queue_delay_microseconds: 20000000 }\n")  # fmt: skip
    server = serve()

    pending = [server.start("add_one", {"X": np.ones((2, 1), np.float32)}) for _ in range(2)]
    assert [each.result().outputs["Y"].tolist() for each in pending] == [[[2], [2]]] * 2

    (model,) = server.statistics().models
    assert (model.requests, model.inferences, model.executions, model.failures) == (2, 4, 1, 0)
    (batch,) = model.batches
    assert (batch.batch_size, batch.executions) == (4, 1)
    assert model.compute_infer_ns == 2 * batch.infer_ns > 0
    assert model.request_ns >= model.queue_ns + model.compute_input_ns + model.compute_infer_ns


def test_a_failed_batch_counts_as_an_execution_without_successes(write_model, serve, x) -> None:
    write_model("raises", "class TritonPythonModel:\n    def execute(self, requests): raise ValueError\n")
    server = serve()

    server.infer("raises", x)

    (model,) = server.statistics().models
    assert (model.requests, model.inferences, model.executions, model.failures) == (0, 0, 1, 1)


def test_an_error_response_counts_as_a_success(write_model, serve, x) -> None:
    write_model("refuses", ADD_ONE.replace('[pb_utils.Tensor("Y", x + 1)]', 'error=pb_utils.TritonError("no")'))
    server = serve()

    assert server.infer("refuses", x).error == "no"

    (model,) = server.statistics().models
    assert (model.requests, model.failures) == (1, 0)


def test_what_waits_while_the_only_instance_works_becomes_one_batch(write_model, serve) -> None:
    write_model("gated", GATED, BATCHED + "dynamic_batching { }\n")
    server = serve()
    one = {"X": np.ones((1, 1), np.float32)}
    (model,) = server.instances("gated")

    first = server.start("gated", one)
    assert model.begun.wait(20)
    others = [server.start("gated", one) for _ in range(3)]
    model.gate.set()
    for each in (first, *others):
        each.result()

    (statistics,) = server.statistics().models
    assert [(batch.batch_size, batch.executions) for batch in statistics.batches] == [(1, 1), (3, 1)]


def test_two_instances_work_at_the_same_time(write_model, serve, x) -> None:
    write_model("pair", ADD_ONE, INPUT + OUTPUT + CPU.replace("count: 1", "count: 2"))
    server = serve()
    meeting = threading.Barrier(2, timeout=20)
    for instance in server.instances("pair"):
        execute = instance.execute
        instance.execute = lambda requests, execute=execute: (meeting.wait(), execute(requests))[1]

    pending = [server.start("pair", x) for _ in range(2)]

    assert [each.result().error for each in pending] == ["", ""]


def test_forwarded_traceparent_is_a_parameter(write_model, serve, x) -> None:
    write_model("echo", ADD_ONE)
    server = serve()
    seen = spy_on(server, "echo")

    server.infer("echo", x, traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01", parameters={"other": 1})

    assert json.loads(seen[0].parameters()) == {
        "other": 1,
        "traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    }
    assert seen[0].trace().get_context() is None


ENSEMBLE = (
    INPUT + OUTPUT + "ensemble_scheduling { step ["
    '{ model_name: "one" input_map { key: "X" value: "X" } output_map { key: "Y" value: "M" } },'
    '{ model_name: "two" input_map { key: "X" value: "M" } output_map { key: "Y" value: "Y" } } ] }'
)


def test_opentelemetry_mode_gives_every_model_a_span_of_the_callers_trace(write_model, serve, x) -> None:
    write_model("both", config=ENSEMBLE)
    for name in ("one", "two"):
        write_model(name)
    server = serve(opentelemetry=True)
    first, second = spy_on(server, "one"), spy_on(server, "two")

    server.infer("both", x, traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01")

    contexts = [json.loads(request.trace().get_context()) for request in (*first, *second)]
    parts = [context["traceparent"].split("-") for context in contexts]
    assert [part[1] for part in parts] == ["a" * 32] * 2
    assert len({part[2] for part in parts} | {"b" * 16}) == 3


def test_an_ensembles_times_are_the_sums_of_its_steps(write_model, serve, x) -> None:
    write_model("both", config=ENSEMBLE)
    write_model("one")
    write_model("two")
    server = serve()

    assert server.infer("both", x).outputs["Y"].tolist() == [3, 4]

    models = {model.model: model for model in server.statistics().models}
    steps = models["one"].compute_infer_ns + models["two"].compute_infer_ns
    assert models["both"].compute_infer_ns == steps
    assert (models["both"].queue_ns, models["both"].requests) == (0, 1)


def test_steps_that_nobody_needs_do_not_run(write_model, serve, x) -> None:
    two = ENSEMBLE.replace(OUTPUT, 'output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] }, '
                                   '{ name: "M" data_type: TYPE_FP32 dims: [ -1 ] } ]\n')  # fmt: skip
    write_model("both", config=two)
    write_model("one")
    write_model("two")
    server = serve()

    assert server.infer("both", x, requested_outputs=["M"]).outputs["M"].tolist() == [2, 3]

    executions = {model.model: model.executions for model in server.statistics().models}
    assert executions == {"one": 1, "two": 0, "both": 1}


def test_the_latest_version_answers_unless_another_is_asked_for(write_model, serve, x) -> None:
    folder = write_model("versions", config="version_policy { all { } }\n" + INPUT + OUTPUT + CPU)
    (folder / "2").mkdir()
    (folder / "2" / "model.py").write_text((folder / "1" / "model.py").read_text().replace("x + 1", "x + 2"))
    server = serve()

    assert server.infer("versions", x).outputs["Y"].tolist() == [3, 4]
    assert server.infer("versions", x, version=1).outputs["Y"].tolist() == [2, 3]
    assert (
        server.infer("versions", x, version=9).error
        == "Request for unknown model: 'versions' version 9 is not found"
    )


def test_a_model_loads_again_with_another_configuration(write_model, serve, x) -> None:
    write_model("add_one")
    server = serve(models=["add_one"])
    config = {"name": "add_one", "backend": "python", "max_batch_size": 4,
              "input": [{"name": "X", "data_type": "TYPE_FP32", "dims": [-1]}],
              "output": [{"name": "Y", "data_type": "TYPE_FP32", "dims": [-1]}]}  # fmt: skip

    server.load("add_one", json.dumps(config))

    assert "batch" in server.infer("add_one", x).error
    assert not server.infer("add_one", {"X": np.ones((1, 2), np.float32)}).error


def test_metrics_of_models_can_be_read(write_model, serve, x) -> None:
    write_model("counts", ADD_ONE.replace("def execute", "def initialize(self, args):\n"
                "            self.family = pb_utils.MetricFamily('seen', '', pb_utils.MetricFamily.COUNTER)\n"
                "            self.metric = self.family.Metric(labels={'model': 'counts'})\n\n        def execute")
                .replace("return [self", "self.metric.increment(len(requests)); return [self"))  # fmt: skip
    server = serve()

    server.infer("counts", x)

    assert server.metrics.value("seen", model="counts") == 1


def test_instances_of_an_unknown_model_are_refused(write_model, serve) -> None:
    write_model("add_one")

    with pytest.raises(UsageError, match="no Python model 'other'"):
        serve().instances("other")


def test_a_decoupled_step_of_an_ensemble_is_refused(write_model, tmp_path) -> None:
    write_model("both", config=ENSEMBLE)
    write_model("one", config=INPUT + OUTPUT + CPU + "model_transaction_policy { decoupled: true }\n")
    write_model("two")

    with pytest.raises(RepositoryError, match=r"step 'one' is a decoupled model"):
        InProcessServer(tmp_path).__enter__()


def test_a_model_that_never_ends_is_left_behind(write_model, tmp_path, x, monkeypatch, caplog) -> None:
    monkeypatch.setattr("tritonscope.testing.served._GRACE_S", 0.01)
    write_model("gated", GATED)

    with InProcessServer(tmp_path) as server:
        (model,) = server.instances("gated")
        pending = server.start("gated", x)
        assert model.begun.wait(20)

    assert "gated_0_0 still executes" in caplog.text
    model.gate.set()
    assert not pending.result().error


def test_what_waits_when_the_server_ends_is_still_answered(write_model, tmp_path, x) -> None:
    write_model("gated", GATED)

    with InProcessServer(tmp_path) as server:
        (model,) = server.instances("gated")
        pending = [server.start("gated", x) for _ in range(2)]
        assert model.begun.wait(20)
        model.gate.set()

    assert [each.result(0).error for each in pending] == ["", ""]
