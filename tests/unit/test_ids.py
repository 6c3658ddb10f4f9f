"""Ids of spans and traces: derived, never equal, and always as long as OTLP wants them."""

from hypothesis import given
from hypothesis import strategies as st

from tritonscope import ids
from tritonscope.ids import derive_id


def test_slots_are_those_that_every_reader_of_records_agrees_on():
    assert ids.batch_span_id(7, 5) == derive_id(7, 5, 0).to_bytes(8, "big")
    assert ids.request_span_id(7, 5, 2) == derive_id(7, 5, 3).to_bytes(8, "big")
    assert ids.stage_span_id(7, 5, ids.COMPUTE) == derive_id(7, 5, 1 << 19).to_bytes(8, "big")
    high, low = derive_id(7, 5, (1 << 18) + 2), derive_id(7, 5, (1 << 18) + (1 << 17) + 2)
    assert ids.request_trace_id(7, 5, 2) == high.to_bytes(8, "big") + low.to_bytes(8, "big")


def test_no_two_spans_of_neighbouring_batches_share_an_id():
    made = [
        make
        for sequence in range(20)
        for make in [
            ids.batch_span_id(7, sequence),
            ids.stage_span_id(7, sequence, 0),
            ids.stage_span_id(7, sequence, 1),
            *(ids.request_span_id(7, sequence, index) for index in range(50)),
        ]
    ]
    assert len(set(made)) == len(made)


def test_the_trace_of_a_batch_is_none_of_its_requests():
    requests = {ids.request_trace_id(7, 5, index) for index in range(1000)}
    assert ids.batch_trace_id(7, 5) not in requests
    assert len(requests) == 1000


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(0, 2**20 - 1))
def test_derived_ids_are_64_bits_and_never_zero(seed, sequence, slot):
    assert 0 < derive_id(seed, sequence, slot) < 2**64


def test_derived_ids_of_one_instance_differ():
    made = {derive_id(9, sequence, slot) for sequence in range(300) for slot in range(300)}
    assert len(made) == 300 * 300
