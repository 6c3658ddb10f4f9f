"""What the running code is told of our spans is what the agent makes of its records."""

import asyncio
import json
import logging

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import tritonscope
from tests.unit.runtime.fakes import ARGS, Request, Response
from tritonscope import ids
from tritonscope.runtime import guard
from tritonscope.runtime.context import SpanContext

PARENT = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
CONTEXT = json.dumps({"traceparent": PARENT, "tracestate": "a=b"})


def observed(execute):
    """Return an initialized, observed model with this `execute`."""
    model = tritonscope.instrument(type("TritonPythonModel", (), {"initialize": _nothing, "execute": execute}))()
    model.initialize(ARGS)
    return model


def _nothing(_self, _args):
    """Initialize nothing."""


def seed(rings):
    (reader,) = rings.readers()
    value = reader.instance.span_seed
    reader.close()
    return value


def test_outside_of_any_batch_there_is_none():
    assert tritonscope.current_context() is None


def test_execute_with_one_request_is_the_compute_span_in_its_trace(rings):
    seen = []
    model = observed(lambda _self, requests: seen.append(tritonscope.current_context()) or [Response()])
    model.execute([Request("a", CONTEXT)])
    span = ids.stage_span_id(seed(rings), 0, ids.COMPUTE).hex()
    assert seen == [SpanContext("ab" * 16, span, sampled=True, trace_state="a=b")]
    assert seen[0].traceparent == f"00-{'ab' * 16}-{span}-01"
    assert not guard.counts


def test_a_stage_is_the_innermost_span_and_ends(rings):
    seen = []

    def execute(_self, _requests):
        with tritonscope.stage("outer"), tritonscope.stage("inner"):
            seen.append(tritonscope.current_context())
        seen.append(tritonscope.current_context())
        return [Response()]

    observed(execute).execute([Request()])
    (batch,) = rings.batches()
    number = {stage.name: stage.number for stage in batch.details}
    assert [context.span_id for context in seen] == [
        ids.stage_span_id(seed(rings), 0, number["inner"]).hex(),
        ids.stage_span_id(seed(rings), 0, ids.COMPUTE).hex(),
    ]
    assert {context.trace_id for context in seen} == {ids.request_trace_id(seed(rings), 0, 0).hex()}


def test_several_requests_share_the_batchs_trace_until_one_is_marked(rings):
    seen = []

    def execute(_self, requests):
        seen.append(tritonscope.current_context())
        for request in requests:
            with tritonscope.for_request(request):
                seen.append(tritonscope.current_context())
                with tritonscope.stage("each"):
                    seen.append(tritonscope.current_context())
        return [Response() for _ in requests]

    observed(execute).execute([Request("a", CONTEXT), Request("b")])
    known = seed(rings)
    first, second = "ab" * 16, ids.request_trace_id(known, 0, 1).hex()
    assert [context.trace_id for context in seen] == [
        ids.batch_trace_id(known, 0).hex(), first, first, second, second,
    ]  # fmt: skip
    assert [seen[1].span_id, seen[3].span_id] == [ids.request_span_id(known, 0, index).hex() for index in (0, 1)]
    (batch,) = rings.batches()
    assert [(stage.name, stage.request) for stage in batch.details] == [("each", 0), ("each", 1)]
    assert [seen[2].span_id, seen[4].span_id] == [
        ids.stage_span_id(known, 0, stage.number).hex() for stage in batch.details
    ]


def test_marks_of_tasks_that_run_at_once_do_not_mix(rings):
    async def answer(request, other_is_in, mine_is_in):
        with tritonscope.for_request(request):
            mine_is_in.set()
            await other_is_in.wait()
            with tritonscope.stage(request.request_id()):
                await asyncio.sleep(0)
        return Response()

    async def execute(_self, requests):
        one, two = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(answer(requests[0], one, two), answer(requests[1], two, one))

    model = observed(execute)
    asyncio.run(model.execute([Request("a"), Request("b")]))
    (batch,) = rings.batches()
    assert sorted((stage.name, stage.request) for stage in batch.details) == [("a", 0), ("b", 1)]


def test_a_request_that_is_none_of_the_batchs_is_left_alone(rings):
    def execute(_self, _requests):
        with tritonscope.for_request(Request("other")), tritonscope.stage("all"):
            return [Response()]

    observed(execute).execute([Request("a")])
    (batch,) = rings.batches()
    assert [stage.request for stage in batch.details] == [-1]
    assert not guard.counts


@pytest.fixture
def tracer():
    """A tracer of the model's own, and the spans that it has ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("the model's"), exporter


def test_the_models_own_spans_are_children_of_ours(rings, tracer):
    make, exporter = tracer

    def execute(_self, _requests):
        first, second = make.start_as_current_span("first"), make.start_as_current_span("second")
        with first, tritonscope.stage("under the model's own"), second:
            pass
        with tritonscope.stage("ours"), make.start_as_current_span("third"):
            pass
        return [Response()]

    observed(execute).execute([Request("a", CONTEXT)])
    spans = {span.name: span for span in exporter.get_finished_spans()}
    (batch,) = rings.batches()
    number = {stage.name: stage.number for stage in batch.details}
    known = seed(rings)
    parents = {name: span.parent.span_id for name, span in spans.items()}
    assert parents == {
        "first": int.from_bytes(ids.stage_span_id(known, 0, ids.COMPUTE), "big"),
        "second": spans["first"].context.span_id,
        "third": int.from_bytes(ids.stage_span_id(known, 0, number["ours"]), "big"),
    }
    assert {span.context.trace_id for span in spans.values()} == {int("ab" * 16, 16)}
    assert spans["first"].context.trace_state.get("a") == "b"
    assert not trace.get_current_span().get_span_context().is_valid
    assert not guard.counts


def test_the_bridge_can_be_switched_off(rings, tracer, monkeypatch):
    monkeypatch.setenv("TRITONSCOPE_OTEL_BRIDGE", "0")
    make, exporter = tracer

    def execute(_self, _requests):
        make.start_span("alone").end()
        return [Response()]

    observed(execute).execute([Request("a", CONTEXT)])
    assert exporter.get_finished_spans()[0].parent is None


def test_a_span_that_the_model_left_open_stays_its_own(rings, tracer):
    make, exporter = tracer
    model = observed(lambda _self, _requests: make.start_span("inner").end() or [Response()])
    with make.start_as_current_span("outer") as outer:
        model.execute([Request("a", CONTEXT)])
    inner = exporter.get_finished_spans()[0]
    assert inner.parent.span_id == outer.get_span_context().span_id


def test_log_lines_name_their_trace_and_span_on_request(rings, monkeypatch, caplog):
    monkeypatch.setenv("TRITONSCOPE_LOG_CORRELATION", "1")
    monkeypatch.setattr(logging, "_logRecordFactory", logging.getLogRecordFactory())
    model = observed(lambda _self, _requests: logging.getLogger("model").warning("hello") or [Response()])
    model.execute([Request("a", CONTEXT)])
    logging.getLogger("model").warning("outside")
    inside, outside = caplog.records
    assert (inside.trace_id, len(inside.span_id)) == ("ab" * 16, 16)
    assert (outside.trace_id, outside.span_id) == ("0", "0")


def test_what_a_model_does_with_the_sizes_of_tensors_is_counted(rings, monkeypatch):
    monkeypatch.setenv("TRITONSCOPE_SIZES", "1")

    class Tensor:
        def __init__(self, name, shape):
            self._name, self._shape = name, shape

        def name(self):
            return self._name

        def shape(self):
            return self._shape

    class Sized(Request):
        def inputs(self):
            return [Tensor("X", [2, 3]), *([Tensor("TEXT", [2])] if self.request_id() == "text" else [])]

    class Answer(Response):
        def output_tensors(self):
            return [Tensor("Y", [5])]

    config = {
        "input": [{"name": "X", "data_type": "TYPE_FP32"}, {"name": "TEXT", "data_type": "TYPE_STRING"}],
        "output": [{"name": "Y", "data_type": "TYPE_INT64"}],
    }
    model = tritonscope.instrument(
        type("Model", (), {"initialize": _nothing, "execute": lambda _self, requests: [Answer() for _ in requests]})
    )()
    model.initialize({**ARGS, "model_config": json.dumps(config)})
    model.execute([Sized("plain"), Sized("text")])
    (batch,) = rings.batches()
    assert [(one.input_bytes, one.output_bytes) for one in batch.requests] == [(24, 40), (-1, 40)]
    assert not guard.counts


@pytest.mark.parametrize(("answer", "error"), [(True, ""), (False, "not ready")])
@pytest.mark.parametrize("is_async", [False, True])
def test_is_ready_is_asked_as_before_and_recorded(rings, answer, error, is_async):
    async def later(_self):
        return answer

    ask = later if is_async else lambda _self: answer
    model = tritonscope.instrument(
        type("Model", (), {"initialize": _nothing, "execute": _nothing, "is_ready": ask})
    )()
    model.initialize(ARGS)
    got = model.is_ready()
    assert (asyncio.run(got) if is_async else got) is answer
    assert [(event.hook, event.error) for event in rings.events()] == [("initialize", ""), ("is_ready", error)]


def test_an_is_ready_that_nobody_defined_is_not_added():
    assert not hasattr(tritonscope.instrument(type("Model", (), {"execute": _nothing})), "is_ready")
