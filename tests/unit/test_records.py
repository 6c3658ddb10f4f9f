"""Records survive the ring, and readers of another version survive the records."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.records import BatchRecord, RequestRecord, derive_id

RECORD = BatchRecord(3, 100, 50, 20, (RequestRecord("a", "{}", "", "late"),), "ValueError: no")


def test_a_record_round_trips():
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(RECORD), type=BatchRecord) == RECORD


def test_a_newer_writers_extra_fields_are_skipped():
    fields = msgspec.msgpack.decode(msgspec.msgpack.encode(RECORD))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode([*fields, "new"]), type=BatchRecord) == RECORD


def test_an_older_writers_missing_fields_have_their_defaults():
    older = msgspec.msgpack.encode(["batch", 3, 100, 50, 20, [["a"]]])
    assert msgspec.msgpack.decode(older, type=BatchRecord) == BatchRecord(3, 100, 50, 20, (RequestRecord("a"),))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(0, 2**20 - 1))
def test_derived_ids_are_64_bits_and_never_zero(seed, sequence, slot):
    assert 0 < derive_id(seed, sequence, slot) < 2**64


def test_derived_ids_of_one_instance_differ():
    ids = {derive_id(9, sequence, slot) for sequence in range(300) for slot in range(300)}
    assert len(ids) == 300 * 300
