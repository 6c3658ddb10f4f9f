"""Whatever the spans: our bytes are read back as the message that OpenTelemetry's own classes make of them."""

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.unit.agent.oracles import message_encoder
from tritonscope.agent import encode
from tritonscope.agent.spans import SpanData, SpanLink

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
pairs = st.tuples(texts, st.one_of(texts, st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1)))
attributes = st.lists(pairs, max_size=6).map(tuple)
trace_ids, span_ids = st.binary(min_size=16, max_size=16), st.binary(min_size=8, max_size=8)
times = st.integers(0, (1 << 64) - 1)
spans = st.builds(
    SpanData,
    trace_id=trace_ids,
    span_id=span_ids,
    parent_id=st.one_of(st.just(b""), span_ids),
    name=texts,
    start_unix_ns=times,
    end_unix_ns=times,
    attributes=attributes,
    own_attributes=attributes,
    links=st.lists(st.builds(SpanLink, trace_ids, span_ids), max_size=20).map(tuple),
    error=texts,
    trace_state=texts,
    remote_parent=st.booleans(),
    is_call=st.booleans(),
)


def read(encoder, made):
    return ExportTraceServiceRequest.FromString(encoder.encode(made))


@given(attributes, st.lists(spans, max_size=4))
def test_our_bytes_are_read_as_the_message_that_the_classes_make(resource, made):
    expected = read(message_encoder.SpanEncoder(resource), made)
    assert read(encode.SpanEncoder(resource), made) == expected
