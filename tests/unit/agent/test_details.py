"""Stages, calls, responses and hooks become spans in the right place, in time and late."""

import pytest

from tritonscope.agent.attributes import ATTRIBUTES
from tritonscope.agent.details import Details, lifecycle_span
from tritonscope.agent.sampling import read_sampler
from tritonscope.agent.spans import origin_of, spans_of
from tritonscope.records import (
    BatchRecord,
    CallRecord,
    FateRecord,
    LifecycleRecord,
    RequestRecord,
    ResponseRecord,
    StageRecord,
)


@pytest.fixture
def batch(instance):
    """The spans of a batch of two requests by name, and the maker of its details' spans."""
    record = BatchRecord(9, 1000, 300, 5, (RequestRecord("a"), RequestRecord("b")))
    spans, frame = spans_of(origin_of(instance), record, 0, read_sampler({}))
    details = Details()
    details.remember(frame)
    return {span.name: span for span in spans}, spans, lambda *found: details.spans(9, found, 0)


def test_stages_nest_under_compute(batch):
    by_name, _, spans = batch
    outer, inner = spans(StageRecord(1, 0, "outer", 1010, 100, 7), StageRecord(2, 1, "inner", 1020, 50))
    assert outer.parent_id == by_name["compute"].span_id
    assert inner.parent_id == outer.span_id
    assert (inner.start_unix_ns, inner.end_unix_ns) == (1020, 1070)
    assert outer.own_attributes == (("tritonscope.stage.cpu_ns", 7),)
    assert inner.own_attributes == ()


def test_a_call_is_a_client_span_that_names_its_model(batch):
    by_name, _, spans = batch
    (call,) = spans(CallRecord(1, 0, "bert", "2", 1010, 100, responses=3, error="no room"))
    assert call.is_call
    assert (call.name, call.error) == ("call bert", "no room")
    assert call.parent_id == by_name["compute"].span_id


def test_responses_follow_each_other_under_their_request(batch):
    _, all_spans, spans = batch
    request = next(span for span in all_spans if ("triton.request_id", "b") in span.own_attributes)
    first, last = spans(ResponseRecord(1, 1100), ResponseRecord(1, 1500, final=True, empty=True))
    assert first.parent_id == last.parent_id == request.span_id
    assert (first.start_unix_ns, first.end_unix_ns) == (1000, 1100)
    assert (last.start_unix_ns, last.end_unix_ns) == (1100, 1500)
    assert first.span_id != last.span_id
    assert dict(last.own_attributes)["tritonscope.response.number"] == 2


def test_what_was_done_for_one_of_several_requests_stands_in_its_trace(batch):
    _, all_spans, spans = batch
    request = next(span for span in all_spans if ("triton.request_id", "b") in span.own_attributes)
    stage, call = spans(
        StageRecord(1, 0, "mine", 1010, 100, request=1), CallRecord(2, 1, "bert", "", 1020, 10, request=1)
    )
    assert stage.trace_id == call.trace_id == request.trace_id
    assert (stage.parent_id, call.parent_id) == (request.span_id, stage.span_id)


def test_what_was_done_for_a_request_that_is_not_sampled_is_left_out(instance):
    unsampled = '{"traceparent": "00-' + "ab" * 16 + "-" + "cd" * 8 + '-00"}'
    record = BatchRecord(9, 1000, 300, 5, (RequestRecord("a"), RequestRecord("b", unsampled)))
    details = Details()
    details.remember(spans_of(origin_of(instance), record, 0, read_sampler({}))[1])
    found = [StageRecord(1, 0, "a's", 1, 1, request=0), StageRecord(2, 0, "b's", 1, 1, request=1)]
    assert [span.name for span in details.spans(9, [*found, FateRecord(1, 5, "cancelled")], 0)] == ["a's"]


def test_a_late_cancellation_is_a_moment_under_its_request(batch):
    _, all_spans, spans = batch
    request = next(span for span in all_spans if ("triton.request_id", "b") in span.own_attributes)
    (fate,) = spans(FateRecord(1, 1700, "cancelled"))
    assert (fate.name, fate.parent_id, fate.start_unix_ns, fate.end_unix_ns) == (
        "cancelled", request.span_id, 1700, 1700,
    )  # fmt: skip


def test_a_load_says_what_it_is(batch):
    _, _, spans = batch
    (load,) = spans(CallRecord(1, 0, "bert", "", 1010, 100, operation="load"))
    assert load.name == "load bert"


def test_details_of_a_batch_that_is_unknown_or_forgotten_have_no_spans(instance):
    details = Details()
    assert details.spans(1, [StageRecord(1, 0, "x", 1, 1)], 0) == []


def test_only_the_last_batches_are_remembered(instance):
    details = Details()
    for sequence in range(5000):
        record = BatchRecord(sequence, 1, 1, 1, (RequestRecord(),))
        details.remember(spans_of(origin_of(instance), record, 0, read_sampler({}))[1])
    found = [StageRecord(1, 0, "x", 1, 1)]
    assert details.spans(0, found, 0) == []
    assert len(details.spans(4999, found, 0)) == 1


def test_hooks_are_roots_of_their_own(instance):
    origin = origin_of(instance)
    begun = lifecycle_span(origin, LifecycleRecord("initialize", 10, 5, "OSError: no weights"), 0)
    ended = lifecycle_span(origin, LifecycleRecord("is_ready", 20, 5), 0)
    assert (begun.name, begun.parent_id, begun.error) == ("decode initialize", b"", "OSError: no weights")
    assert len({begun.trace_id, ended.trace_id}) == len({begun.span_id, ended.span_id}) == 2


def test_details_carry_exactly_the_attributes_of_the_table(batch, instance):
    _, _, spans = batch
    stage, call, response, fate = spans(
        StageRecord(1, 0, "s", 1, 1, 1),
        CallRecord(2, 0, "m", "1", 1, 1, operation="load"),
        ResponseRecord(0, 1200, output_bytes=8),
        FateRecord(0, 1300, "cancelled"),
    )
    hook = lifecycle_span(origin_of(instance), LifecycleRecord("initialize", 1, 1), 0)
    types = {str: "string", int: "int", bool: "bool"}
    for kind, span in (
        ("stage", stage), ("call", call), ("response", response), ("fate", fate), ("lifecycle", hook),
    ):  # fmt: skip
        sent = {name: types[type(value)] for name, value in (*span.attributes, *span.own_attributes)}
        assert sent == {row.name: row.type for row in ATTRIBUTES if kind in row.on}
