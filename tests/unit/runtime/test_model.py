"""An instrumented model does what it did before, to the object; and every call of `execute` leaves a record."""

import asyncio
import json
import logging

import pytest

from tests.unit.runtime.fakes import ARGS, Request, Response
from tritonscope.ring.layout import State
from tritonscope.runtime import guard
from tritonscope.runtime.model import instrument, is_instrumented, uninstrument


class Plain:
    """A model as users write it."""

    def initialize(self, args):
        self.args = args

    def execute(self, requests):
        """The user's own words."""
        self.seen = requests
        self.answer = [Response() for _ in requests]
        return self.answer

    def finalize(self):
        self.finalized = True


def fresh(base=Plain):
    return instrument(type("TritonPythonModel", (base,), {}))


def started(model_class):
    model = model_class()
    model.initialize(ARGS)
    return model


def test_the_class_stays_the_same_object():
    model = type("M", (Plain,), {})
    assert instrument(model) is model
    assert is_instrumented(model)


def test_requests_and_responses_pass_as_the_same_objects(rings):
    model = started(fresh())
    requests = [Request(), Request()]
    assert model.execute(requests) is model.answer
    assert model.seen is requests
    assert model.args is ARGS


def test_every_execute_leaves_a_record(rings):
    model = started(fresh())
    model.execute([Request("a"), Request("b")])
    model.execute([Request("c")])
    first, second = rings.batches()
    assert [request.request_id for request in first.requests] == ["a", "b"]
    assert (first.sequence, second.sequence) == (0, 1)
    assert first.start_ns + first.wall_ns <= second.start_ns
    assert first.cpu_ns >= 0
    assert first.error == ""


def test_the_ring_says_who_writes_it(rings):
    started(fresh())
    (reader,) = rings.readers()
    instance = reader.instance
    assert (instance.model, instance.version, instance.instance) == ("decode", "1", "decode_0_0")
    assert instance.repository == "/models/decode"
    assert instance.span_seed
    reader.close()


def test_an_exception_passes_as_the_same_object_and_is_recorded(rings):
    mistake = ValueError("broken picture")

    class Raises(Plain):
        def execute(self, requests):
            raise mistake

    model = started(fresh(Raises))
    with pytest.raises(ValueError, match="broken") as raised:
        model.execute([Request("a")])
    assert raised.value is mistake
    assert rings.batches()[0].error == "ValueError: broken picture"
    assert rings.scoreboard().failures == 1


def test_an_error_response_is_a_failed_request_though_triton_counts_a_success(rings):
    class Fails(Plain):
        def execute(self, requests):
            return [Response(), Response("too dark")]

    started(fresh(Fails)).execute([Request(), Request()])
    assert [request.error for request in rings.batches()[0].requests] == ["", "too dark"]
    assert rings.scoreboard().failures == 1


@pytest.mark.parametrize("returned", [None, [None], [], (Response(),), "no list", [Response()] * 3])
def test_whatever_execute_returns_is_returned(rings, returned):
    class Odd(Plain):
        def execute(self, requests):
            return returned

    assert started(fresh(Odd)).execute([Request()]) is returned
    assert len(rings.batches()) == 1
    assert not guard.counts


def test_tritons_own_context_is_kept_raw_and_makes_headers_needless(rings):
    context = '{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}'
    started(fresh()).execute([Request(context=context, parameters='{"traceparent":"00-1-2-00"}')])
    (request,) = rings.batches()[0].requests
    assert (request.trace_context, request.parameters) == (context, "")


def test_of_the_parameters_only_the_trace_headers_leave_the_process(rings):
    parameters = json.dumps({"traceparent": "00-a-b-01", "tracestate": "x=1", "api_key": "secret", "n": 1.5})
    started(fresh()).execute([Request(parameters=parameters)])
    kept = json.loads(rings.batches()[0].requests[0].parameters)
    assert kept == {"traceparent": "00-a-b-01", "tracestate": "x=1"}


def test_a_coroutine_is_returned_as_a_coroutine_and_timed_to_its_end(rings):
    class Async(Plain):
        async def execute(self, requests):
            await asyncio.sleep(0.01)
            return [Response("late")]

    coroutine = started(fresh(Async)).execute([Request()])
    assert asyncio.iscoroutine(coroutine)
    assert rings.batches() == []
    (response,) = asyncio.run(coroutine)
    (batch,) = rings.batches()
    assert response.error().message() == batch.requests[0].error == "late"
    assert batch.wall_ns >= 10_000_000


def test_an_exception_of_a_coroutine_passes_as_the_same_object(rings):
    mistake = KeyError("x")

    class Async(Plain):
        async def execute(self, requests):
            raise mistake

    with pytest.raises(KeyError) as raised:
        asyncio.run(started(fresh(Async)).execute([Request()]))
    assert raised.value is mistake
    assert rings.batches()[0].error == "KeyError: 'x'"


def test_no_hook_is_defined_that_the_user_did_not_define():
    class Bare:
        def execute(self, requests):
            return []

    model = instrument(Bare)
    for hook in ("initialize", "finalize", "auto_complete_config", "is_ready"):
        assert not hasattr(model, hook)


def test_a_model_without_initialize_is_recorded_from_its_first_batch_on(rings):
    class Bare:
        def execute(self, requests):
            return [Response()]

    instrument(Bare)().execute([Request("first")])
    assert rings.batches()[0].requests[0].request_id == "first"


def test_an_execute_set_in_initialize_is_observed(rings):
    class Sets(Plain):
        def initialize(self, args):
            self.execute = lambda requests: ["own", len(requests)]

    assert started(fresh(Sets)).execute([Request()]) == ["own", 1]
    assert len(rings.batches()) == 1


def test_a_factory_makes_observed_models(rings):
    class Made(Plain):
        pass

    def TritonPythonModel():  # noqa: N802 - the name that Triton asks for
        return Made()

    model = started(instrument(TritonPythonModel))
    model.execute([Request()])
    assert type(model) is Made
    assert len(rings.batches()) == 1


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_static_and_class_methods_are_called_as_such(rings, kind):
    def run(*args):
        return list(args)

    model = instrument(type("M", (), {"execute": kind(run)}))()
    requests = [Request()]
    assert model.execute(requests)[-1] is requests
    assert len(rings.batches()) == 1


def test_a_base_class_stays_as_it_was_and_super_works(rings):
    class Base(Plain):
        def execute(self, requests):
            return ["base"]

    class Derived(Base):
        def execute(self, requests):
            return [*super().execute(requests), "derived"]

    before = Base.execute
    assert started(instrument(Derived)).execute([Request()]) == ["base", "derived"]
    assert Base.execute is before
    assert len(rings.batches()) == 1


def test_unhashable_models_and_models_with_slots_work(rings):
    class Odd(Plain):
        __slots__ = ()
        __hash__ = None

    started(fresh(Odd)).execute([Request()])
    assert len(rings.batches()) == 1


def test_nothing_is_added_to_the_users_object(rings):
    model = started(fresh())
    model.execute([Request()])
    assert set(vars(model)) == {"args", "seen", "answer"}


def test_names_and_documentation_of_methods_stay():
    model = fresh()
    assert model.execute.__doc__ == "The user's own words."
    assert model.execute.__qualname__ == "Plain.execute"


def test_a_second_time_warns_and_changes_nothing(caplog):
    model = fresh()
    execute = model.execute
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert instrument(model) is model
    assert model.execute is execute
    assert "already" in caplog.text


def test_uninstrument_restores_own_and_inherited_methods():
    own = vars(Plain)["execute"]
    model = type("M", (Plain,), {"execute": own})
    instrument(model)
    uninstrument(model)
    assert vars(model)["execute"] is own
    assert "initialize" not in vars(model)
    assert not is_instrumented(model)


def test_the_switch_off_leaves_the_class_alone(monkeypatch):
    monkeypatch.setenv("TRITONSCOPE", "0")
    model = type("M", (Plain,), {})
    assert instrument(model) is model
    assert vars(model).get("execute") is None


def test_finalize_is_called_and_seen(rings):
    model = started(fresh())
    assert rings.scoreboard().state is State.IDLE
    model.finalize()
    assert model.finalized
    assert rings.scoreboard().state is State.FINALIZED


def test_no_room_for_a_ring_leaves_the_model_working_and_says_so_once(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRITONSCOPE_DIR", str(tmp_path / "file" / "rings"))
    model = started(fresh())
    with caplog.at_level(logging.WARNING, "tritonscope"):
        assert model.execute([Request()]) is model.answer
        assert model.execute([Request()]) is model.answer
    assert len(caplog.records) <= 1


def test_requests_that_cannot_be_read_are_still_executed(rings):
    """A mistake of ours, or a Triton that lacks a method, costs the record and nothing else."""
    model = started(fresh())
    requests = [object()]
    assert model.execute(requests) is model.answer
    assert model.seen is requests
    assert rings.batches() == []
    assert sum(guard.counts.values()) == 1
