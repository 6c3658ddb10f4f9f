"""The parent of a request's span: Triton's context first, then forwarded headers, by the rules of W3C."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.records import RequestRecord
from tritonscope.trace_context import ParentContext, parent_of, parse_traceparent

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
OTHER = "00-11111111111111111111111111111111-2222222222222222-01"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_valid_header_gives_its_ids():
    parent = parse_traceparent(VALID, "vendor=1")
    assert parent == ParentContext(bytes.fromhex(TRACE), bytes.fromhex(SPAN), sampled=True, trace_state="vendor=1")


@pytest.mark.parametrize(
    ("flags", "sampled"), [("00", False), ("01", True), ("02", False), ("03", True), ("ff", True)]
)
def test_only_the_lowest_flag_says_sampled(flags, sampled):
    assert parse_traceparent(f"00-{TRACE}-{SPAN}-{flags}").sampled is sampled


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01-",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
        f"01-{TRACE}-{SPAN}-01more",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE[:-1]}\N{ARABIC-INDIC DIGIT ONE}-{SPAN}-01",
    ],
)
def test_a_malformed_header_gives_no_parent(header):
    assert parse_traceparent(header) is None


def test_a_later_version_may_say_more():
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01-what-the-future-brings").span_id == bytes.fromhex(SPAN)


@pytest.mark.parametrize("state", ["a=\n1", "a=é", "a=" + "1" * 511])
def test_a_bad_tracestate_is_left_out_and_spoils_nothing(state):
    assert parse_traceparent(VALID, state) == parse_traceparent(VALID)


IDS_128, IDS_64 = st.integers(1, (1 << 128) - 1), st.integers(1, (1 << 64) - 1)


@given(trace=IDS_128, span=IDS_64, flags=st.integers(0, 255), version=st.integers(0, 254))
def test_whatever_is_written_by_the_rules_is_read_back(trace, span, flags, version):
    parent = parse_traceparent(f"{version:02x}-{trace:032x}-{span:016x}-{flags:02x}")
    assert parent == ParentContext(trace.to_bytes(16, "big"), span.to_bytes(8, "big"), bool(flags & 1))


@given(st.one_of(st.text(), st.text("0123456789abcdefABCDEF-\n", max_size=60)))
def test_no_text_is_ever_more_than_ignored(text):
    parent = parse_traceparent(text)
    if parent is not None:
        assert f"{parent.trace_id.hex()}-{parent.span_id.hex()}" == text[3:52]


@given(st.text())
def test_no_context_or_parameters_break_the_reader(text):
    assert parent_of(RequestRecord(trace_context=text, parameters=text)) is None or "traceparent" in text


def test_tritons_context_wins_over_forwarded_headers():
    request = RequestRecord(
        trace_context=json.dumps({"traceparent": VALID, "tracestate": "a=1"}),
        parameters=json.dumps({"traceparent": OTHER}),
    )
    assert parent_of(request) == parse_traceparent(VALID, "a=1")


def test_forwarded_headers_count_where_triton_does_not_trace():
    request = RequestRecord(parameters=json.dumps({"priority": 3, "traceparent": OTHER, "tracestate": "b=2"}))
    assert parent_of(request) == parse_traceparent(OTHER, "b=2")


def test_forwarded_headers_count_where_tritons_context_is_malformed():
    request = RequestRecord(trace_context='{"traceparent": "00-0"}', parameters=json.dumps({"traceparent": OTHER}))
    assert parent_of(request) == parse_traceparent(OTHER)


@pytest.mark.parametrize("text", ["", "null", "[]", "7", "{", '{"traceparent": 7}', '{"tracestate": "a=1"}'])
def test_without_a_usable_header_a_request_is_a_root(text):
    assert parent_of(RequestRecord(trace_context=text, parameters=text)) is None


def test_extra_keys_and_a_tracestate_of_another_type_do_no_harm():
    context = json.dumps({"QUEUE_START": 17, "traceparent": VALID, "tracestate": {"a": 1}})
    assert parent_of(RequestRecord(trace_context=context)) == parse_traceparent(VALID)
