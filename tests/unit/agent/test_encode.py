"""What is sent is what OpenTelemetry's own messages read back."""

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import tritonscope
from tests.unit.agent.otlp_receivers import spans_in
from tritonscope.agent.encode import SpanEncoder
from tritonscope.agent.spans import SpanData, SpanLink

ROOT = SpanData(bytes(range(16)), bytes(range(8)), b"", "decode", 10, 30, (("a", "text"), ("b", 7)))


@pytest.fixture
def encoder() -> SpanEncoder:
    return SpanEncoder([("service.name", "triton"), ("process.pid", 42)])


def decoded(content: bytes) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString(content)


def values(attributes) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


def test_a_request_names_its_resource_and_scope(encoder):
    (resource_spans,) = decoded(encoder.encode([ROOT])).resource_spans
    (scope_spans,) = resource_spans.scope_spans
    assert values(resource_spans.resource.attributes) == {"service.name": "triton", "process.pid": 42}
    assert (scope_spans.scope.name, scope_spans.scope.version) == ("tritonscope", tritonscope.__version__)


def test_a_root_is_encoded_field_by_field(encoder):
    (span,) = spans_in(decoded(encoder.encode([ROOT])))
    assert (span.trace_id, span.span_id, span.parent_span_id) == (ROOT.trace_id, ROOT.span_id, b"")
    assert (span.name, span.kind) == ("decode", Span.SPAN_KIND_INTERNAL)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (10, 30)
    assert values(span.attributes) == {"a": "text", "b": 7}
    assert not span.HasField("status")
    assert span.flags == 0x101, "sampled, and known not to be under a remote parent"


def test_each_span_gets_the_attributes_of_its_batch_and_its_own(encoder):
    batches = [(("sequence", number),) for number in (1, 2)]
    made = [
        SpanData(b"t" * 16, b"s" * 8, b"", "b", 1, 2, shared, own)
        for shared in batches
        for own in [(), (("id", "x"),), ()]
    ]
    spans = spans_in(decoded(encoder.encode(made)))
    assert [values(span.attributes) for span in spans] == [
        {"sequence": 1}, {"sequence": 1, "id": "x"}, {"sequence": 1},
        {"sequence": 2}, {"sequence": 2, "id": "x"}, {"sequence": 2},
    ]  # fmt: skip


def test_a_child_of_a_remote_parent_says_so(encoder):
    child = SpanData(b"t" * 16, b"s" * 8, b"p" * 8, "decode", 1, 2, (), trace_state="a=1", remote_parent=True)
    (span,) = spans_in(decoded(encoder.encode([child])))
    assert (span.parent_span_id, span.trace_state, span.flags) == (b"p" * 8, "a=1", 0x301)


def test_all_links_are_kept(encoder):
    links = tuple(SpanLink(number.to_bytes(16, "big"), number.to_bytes(8, "big")) for number in range(1, 301))
    (span,) = spans_in(decoded(encoder.encode([SpanData(b"t" * 16, b"s" * 8, b"", "b", 1, 2, (), links=links)])))
    assert [(link.trace_id, link.span_id) for link in span.links] == list(links)
    assert span.dropped_links_count == 0


def test_an_error_becomes_the_status(encoder):
    (span,) = spans_in(decoded(encoder.encode([SpanData(b"t" * 16, b"s" * 8, b"", "b", 1, 2, (), error="E: no")])))
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "E: no")


def test_joined_requests_are_one_request(encoder):
    other = SpanEncoder([("service.name", "other")])
    request = decoded(encoder.encode([ROOT]) + other.encode([ROOT, ROOT]))
    assert [len(each.scope_spans[0].spans) for each in request.resource_spans] == [1, 2]
    assert [values(each.resource.attributes)["service.name"] for each in request.resource_spans] == [
        "triton",
        "other",
    ]
