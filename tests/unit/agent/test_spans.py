"""The spans of a batch: who hangs under whom, who links whom, when, and with which attributes."""

import json
from pathlib import Path

import pytest

from tritonscope.agent.attributes import ATTRIBUTES
from tritonscope.agent.sampling import read_sampler
from tritonscope.agent.spans import SpanLink, origin_of, spans_of, spans_when_sampled
from tritonscope.records import BatchRecord, RequestRecord

DOCS = Path(__file__).parents[3] / "docs" / "telemetry.md"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = (f"00-{TRACE}-{SPAN}-{flags}" for flags in ("01", "00"))
OFFSET_NS = 1_700_000_000_000_000_000


def traced(traceparent: str, request_id: str = "", tracestate: str = "") -> RequestRecord:
    return RequestRecord(request_id, json.dumps({"traceparent": traceparent, "tracestate": tracestate}))


@pytest.fixture
def spans_by_kind(instance):
    """Make a batch's spans and return them as `(requests, batch, compute)`."""

    def make(*requests: RequestRecord, sampler: str = "parentbased_always_on", cpu_ns: int = 5, error: str = ""):
        record = BatchRecord(9, 1000, 300, cpu_ns, requests, error)
        spans, _ = spans_of(origin_of(instance), record, OFFSET_NS, read_sampler({"OTEL_TRACES_SAMPLER": sampler}))
        named = {
            name: [span for span in spans if span.name == name] for name in ("decode", "decode batch", "compute")
        }
        assert sum(map(len, named.values())) == len(spans)
        return named["decode"], (named["decode batch"] or [None])[0], (named["compute"] or [None])[0]

    return make


def test_a_traced_request_hangs_under_tritons_span_and_carries_its_batch(spans_by_kind):
    (request,), batch, compute = spans_by_kind(traced(SAMPLED, tracestate="a=1"))
    assert (request.trace_id.hex(), request.parent_id.hex()) == (TRACE, SPAN)
    assert (batch.trace_id, batch.parent_id) == (request.trace_id, request.span_id)
    assert (compute.trace_id, compute.parent_id) == (request.trace_id, batch.span_id)
    assert (request.remote_parent, batch.remote_parent, compute.remote_parent) == (True, False, False)
    assert {span.trace_state for span in (request, batch, compute)} == {"a=1"}
    assert {span.links for span in (request, batch, compute)} == {()}


def test_an_untraced_request_is_the_root_of_its_own_trace(spans_by_kind):
    (request,), batch, _ = spans_by_kind(RequestRecord())
    assert request.parent_id == b""
    assert not request.remote_parent
    assert batch.trace_id == request.trace_id


def test_a_shared_batch_is_a_root_that_links_all_its_requests_and_they_link_back(spans_by_kind):
    requests, batch, compute = spans_by_kind(*[RequestRecord()] * 200, traced(SAMPLED))
    assert batch.parent_id == b""
    assert batch.trace_id not in {span.trace_id for span in requests}
    assert list(batch.links) == [SpanLink(span.trace_id, span.span_id) for span in requests]
    assert {span.links for span in requests} == {(SpanLink(batch.trace_id, batch.span_id),)}
    assert (compute.trace_id, compute.parent_id) == (batch.trace_id, batch.span_id)
    assert len({span.trace_id for span in requests}) == 201


def test_times_are_on_the_wall_clock(spans_by_kind):
    (request,), batch, compute = spans_by_kind(RequestRecord())
    assert {(span.start_unix_ns, span.end_unix_ns) for span in (request, batch, compute)} == {
        (OFFSET_NS + 1000, OFFSET_NS + 1300)
    }


def test_an_unsampled_parent_sends_nothing(spans_by_kind):
    assert spans_by_kind(traced(UNSAMPLED)) == ([], None, None)


def test_a_batch_is_sampled_when_one_of_its_requests_is(spans_by_kind):
    requests, batch, compute = spans_by_kind(traced(UNSAMPLED), RequestRecord("kept"), traced(UNSAMPLED))
    assert [dict(span.own_attributes)["triton.request_id"] for span in requests] == ["kept"]
    assert list(batch.links) == [SpanLink(requests[0].trace_id, requests[0].span_id)]
    assert dict(batch.attributes)["tritonscope.batch.size"] == 3
    assert compute is not None


@pytest.mark.parametrize(("sampler", "kept"), [("always_on", 2), ("always_off", 0), ("parentbased_always_off", 1)])
def test_the_sampler_decides_request_by_request(spans_by_kind, sampler, kept):
    root_or_unsampled = traced(UNSAMPLED) if sampler == "always_on" else RequestRecord()
    assert len(spans_by_kind(traced(SAMPLED), root_or_unsampled, sampler=sampler)[0]) == kept


def test_a_batch_without_requests_makes_no_spans(spans_by_kind):
    assert spans_by_kind() == ([], None, None)


def test_a_raised_error_is_everyones(spans_by_kind):
    requests, batch, compute = spans_by_kind(RequestRecord(), RequestRecord(), error="ValueError: no")
    assert {span.error for span in [*requests, batch, compute]} == {"ValueError: no"}


def test_a_failed_response_is_that_requests_alone(spans_by_kind):
    requests, batch, compute = spans_by_kind(RequestRecord(error="bad image"), RequestRecord())
    assert [span.error for span in requests] == ["bad image", ""]
    assert (batch.error, compute.error) == ("", "")


def test_unknown_cpu_time_is_absent_and_never_zero(spans_by_kind):
    known, unknown = spans_by_kind(RequestRecord(), cpu_ns=0), spans_by_kind(RequestRecord(), cpu_ns=-1)
    assert dict(known[1].attributes)["tritonscope.execute.cpu_ns"] == 0
    assert "tritonscope.execute.cpu_ns" not in dict(unknown[1].attributes)


def test_one_span_counts_for_each_request_and_two_for_the_batch(instance):
    record = BatchRecord(9, 1000, 300, 5, (RequestRecord(), RequestRecord()))
    spans, _ = spans_of(origin_of(instance), record, 0, read_sampler({}))
    assert len(spans) == spans_when_sampled(record)


def test_spans_carry_exactly_the_attributes_of_the_table(spans_by_kind):
    (request,), batch, compute = spans_by_kind(
        RequestRecord("id", correlation_id="seq", fate="cancelled", input_bytes=4, output_bytes=8)
    )
    types = {str: "string", int: "int"}
    for kind, span in (("request", request), ("batch", batch), ("compute", compute)):
        pairs = [*span.attributes, *span.own_attributes]
        sent = {name: types[type(value)] for name, value in pairs}
        assert sent == {row.name: row.type for row in ATTRIBUTES if kind in row.on}
        assert len(sent) == len(pairs)


def test_the_documentation_shows_the_table():
    text = DOCS.read_text()
    section = text.split("## Attributes")[1].split("##")[0]
    expected = [f"| `{row.name}` | {row.type} | {', '.join(row.on)} | {row.meaning} |" for row in ATTRIBUTES]
    assert [line for line in section.splitlines() if line.startswith("| `")] == expected
