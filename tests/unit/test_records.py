"""Records survive the ring, and readers of another version survive the records."""

import msgspec

from tritonscope.records import BatchRecord, RequestRecord

RECORD = BatchRecord(3, 100, 50, 20, (RequestRecord("a", "{}", "", "late"),), "ValueError: no")


def test_a_record_round_trips():
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(RECORD), type=BatchRecord) == RECORD


def test_a_newer_writers_extra_fields_are_skipped():
    fields = msgspec.msgpack.decode(msgspec.msgpack.encode(RECORD))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode([*fields, "new"]), type=BatchRecord) == RECORD


def test_an_older_writers_missing_fields_have_their_defaults():
    older = msgspec.msgpack.encode(["batch", 3, 100, 50, 20, [["a"]]])
    assert msgspec.msgpack.decode(older, type=BatchRecord) == BatchRecord(3, 100, 50, 20, (RequestRecord("a"),))
