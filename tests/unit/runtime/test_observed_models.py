"""What an observed model does beyond returning from `execute` is in its records: calls, responses, stages, fates.

The models are those of the conformance suite, on the in-process server.
"""

import numpy as np
import pytest

from tests.conformance.cases import read_case, run_case
from tests.conformance.in_process import InProcessTarget
from tritonscope.records import BatchRecord, CallRecord, LateRecord, LifecycleRecord, ResponseRecord, StageRecord
from tritonscope.runtime import guard
from tritonscope.testing import InProcessServer


@pytest.fixture
def recorded(overlay, rings):
    """Run a case on observed models; return the events of its own model."""

    def run(name):
        with InProcessServer(overlay, models=[]) as server:
            run_case(InProcessTarget(server), read_case(name))
        assert not guard.counts
        found = []
        for reader in rings.readers():
            if reader.instance.model == name:
                found += reader.read(10_000)
            reader.close()
        return found

    return run


def batches(events):
    return [event for event in events if isinstance(event, BatchRecord)]


def details(events, kind):
    """All details of a kind, in time or late."""
    inside = [detail for batch in batches(events) for detail in batch.details]
    late = [event.detail for event in events if isinstance(event, LateRecord)]
    return [detail for detail in (*inside, *late) if isinstance(detail, kind)]


def test_a_call_names_its_model_and_lies_within_its_batch(recorded):
    events = recorded("bls_exec")
    (call, *_) = details(events, CallRecord)
    batch = batches(events)[0]
    assert (call.model, call.version, call.responses, call.error, call.parent) == ("add_one", "", 1, "", 0)
    assert batch.start_ns <= call.start_ns
    assert call.start_ns + call.wall_ns <= batch.start_ns + batch.wall_ns


def test_asynchronous_calls_end_when_their_futures_do(recorded):
    calls = details(recorded("bls_async_exec"), CallRecord)
    assert [call.model for call in calls[:2]] == ["add_one", "add_one"]
    assert len({call.number for call in calls[:2]}) == 2


def test_a_call_of_a_decoupled_model_counts_the_responses_that_were_taken(recorded):
    (call, *_) = details(recorded("bls_decoupled"), CallRecord)
    assert call.model == "decoupled_many"
    assert call.responses >= 1


def test_failed_calls_carry_the_error(recorded):
    errors = {call.model: call.error for call in details(recorded("bls_errors"), CallRecord)}
    assert "no_such_model" in errors["no_such_model"]
    assert errors["raises"]


def test_responses_of_a_thread_come_late_and_end_with_the_final_one(recorded):
    responses = details(recorded("decoupled_thread"), ResponseRecord)
    assert [(one.request, one.final, one.empty) for one in responses[:3]] == [
        (0, False, False), (0, False, False), (0, True, True),
    ]  # fmt: skip
    assert responses[0].sent_ns <= responses[1].sent_ns <= responses[2].sent_ns


def test_an_error_that_was_sent_is_in_its_response(recorded):
    errors = [one.error for one in details(recorded("decoupled_error_response"), ResponseRecord)]
    assert "one bad one" in errors


def test_a_rescheduled_request_says_so(recorded):
    fates = [request.fate for batch in batches(recorded("iterative_sequence")) for request in batch.requests]
    assert "rescheduled" in fates


def test_models_that_are_loaded_and_unloaded_are_named(recorded):
    operations = [
        (one.operation, one.model, bool(one.error)) for one in details(recorded("model_control"), CallRecord)
    ]
    assert operations[:4] == [
        ("load", "relative_imports", False), ("unload", "relative_imports", False),
        ("unload", "no_such_model", False), ("load", "no_such_model", True),
    ]  # fmt: skip


def test_what_initialize_calls_is_no_part_of_a_batch(recorded):
    events = recorded("bls_in_initialize")
    assert not details(events[:1], CallRecord)


def test_requests_of_a_sequence_carry_its_id(recorded):
    ids = {request.correlation_id for batch in batches(recorded("sequence_direct")) for request in batch.requests}
    assert ids
    assert "" not in ids


def test_requests_without_a_sequence_carry_none(recorded):
    assert {request.correlation_id for batch in batches(recorded("add_one")) for request in batch.requests} == {""}


def test_initialize_and_finalize_are_recorded(recorded):
    hooks = [(event.hook, event.error) for event in recorded("init_args") if isinstance(event, LifecycleRecord)]
    assert hooks[0] == ("initialize", "")


def test_an_initialize_that_raises_is_recorded_with_its_error(recorded):
    (event,) = recorded("initialize_raises")
    assert event.hook == "initialize"
    assert event.error


STAGED = """
import threading
import numpy as np
import triton_python_backend_utils as pb_utils
import tritonscope

@tritonscope.stage("decorated")
def decorated(x):
    return x + 1

@tritonscope.instrument
class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        with tritonscope.stage("outer"):
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            with tritonscope.stage("inner"):
                y = decorated(x)
            thread = threading.Thread(target=self.aside)
            thread.start()
            thread.join()
            try:
                with tritonscope.stage("failing"):
                    raise ValueError("no")
            except ValueError:
                pass
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", y)])

    def aside(self):
        with tritonscope.stage("in a thread"):
            pass
"""
CONFIG = """backend: "python"
input [{ name: "X" data_type: TYPE_FP32 dims: [ 1 ] }]
output [{ name: "Y" data_type: TYPE_FP32 dims: [ 1 ] }]
"""


def test_stages_nest_survive_exceptions_and_work_in_threads(tmp_path, rings):
    (tmp_path / "models" / "staged" / "1").mkdir(parents=True)
    (tmp_path / "models" / "staged" / "config.pbtxt").write_text(CONFIG)
    (tmp_path / "models" / "staged" / "1" / "model.py").write_text(STAGED)
    with InProcessServer(tmp_path / "models") as server:
        answer = server.infer("staged", {"X": np.ones(1, np.float32)})
    assert answer.outputs["Y"].tolist() == [2.0]
    (batch,) = rings.batches()
    stages = {stage.name: stage for stage in batch.details}
    assert all(isinstance(stage, StageRecord) for stage in batch.details)
    number = {name: stage.number for name, stage in stages.items()}
    assert {name: stage.parent for name, stage in stages.items()} == {
        "outer": 0, "inner": number["outer"], "decorated": number["inner"], "failing": number["outer"],
        "in a thread": 0,
    }  # fmt: skip
    assert stages["failing"].error == "ValueError: no"
    assert stages["inner"].wall_ns <= stages["outer"].wall_ns <= batch.wall_ns


def test_a_stage_outside_of_any_batch_does_nothing():
    import tritonscope  # noqa: PLC0415 - as users do

    with tritonscope.stage("alone"):
        value = 1
    assert value == 1
    assert not guard.counts
