"""A ring hands over every record once, in order, or counts it as dropped; and it never takes its reader down."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.layout import FRAME, HEAD_BYTES, RingFormatError, State, Word, padded
from tritonscope.ring.reader import RingReader
from tritonscope.ring.writer import RingWriter

INSTANCE = InstanceRecord("decode", "1", "decode_0_0", pid=42, span_seed=7)
CAPACITY = 4096


def batch(sequence: int, text: str = "") -> BatchRecord:
    return BatchRecord(sequence, 10, 20, 5, (RequestRecord(request_id=text),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ring"


@pytest.fixture
def writer(path: Path):
    ring = RingWriter(path, INSTANCE, CAPACITY)
    yield ring
    ring.close()


@pytest.fixture
def reader(path: Path, writer: RingWriter):
    ring = RingReader(path)
    yield ring
    ring.close()


def test_reader_learns_who_writes(reader):
    assert reader.instance == INSTANCE


def test_records_come_out_as_they_went_in(writer, reader):
    records = [batch(number, "é" * number) for number in range(5)]
    assert all(writer.write(record) for record in records)
    assert reader.read() == records
    assert reader.read() == []


def test_limit_bounds_one_read_and_loses_nothing(writer, reader):
    for number in range(5):
        writer.write(batch(number))
    assert [record.sequence for record in reader.read(limit=2)] == [0, 1]
    assert [record.sequence for record in reader.read(limit=9)] == [2, 3, 4]


def test_a_full_ring_drops_the_newest_and_counts_it(writer, reader):
    written = [writer.write(batch(number, "x" * 100)) for number in range(100)]
    kept = written.count(True)
    assert 0 < kept < 100
    assert [record.sequence for record in reader.read()] == list(range(kept))
    writer.show()
    assert reader.scoreboard().drops == 100 - kept


def test_room_returns_only_after_the_reader_came_back(writer, reader):
    while writer.write(batch(0, "x" * 100)):
        pass
    assert reader.read()
    assert not writer.write(batch(1, "x" * 100))
    assert reader.read() == []
    assert writer.write(batch(1, "x" * 100))


@given(st.lists(st.tuples(st.integers(0, 900), st.booleans()), max_size=200))
def test_any_mix_of_sizes_and_reads_arrives_in_order(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("ring") / "a.ring"
    writer = RingWriter(path, INSTANCE, CAPACITY)
    reader = RingReader(path)
    accepted, received = [], []
    for number, (size, read) in enumerate(steps):
        if writer.write(batch(number, "x" * size)):
            accepted.append(number)
        if read:
            received += [record.sequence for record in reader.read()]
    received += [record.sequence for record in reader.read()]
    assert received == accepted
    writer.show()
    assert reader.scoreboard().drops == len(steps) - len(accepted)
    reader.close()
    writer.close()


def test_a_killed_reader_leaves_its_last_records_to_the_next(path, writer):
    first = RingReader(path)
    writer.write(batch(0))
    writer.write(batch(1))
    first.read(limit=1)
    first.read(limit=1)
    os.close(first._fd)
    second = RingReader(path)
    assert [record.sequence for record in second.read()] == [1]
    second.close()


def test_a_closed_reader_leaves_nothing_behind(path, writer):
    first = RingReader(path)
    writer.write(batch(0))
    first.read()
    first.close()
    second = RingReader(path)
    assert second.read() == []
    second.close()


def test_a_head_that_moved_before_its_payload_is_read_later(path, writer, reader):
    """What a weakly ordered processor may show: the new head first, the frame after it."""
    writer.write(batch(0))
    assert len(reader.read()) == 1
    at = HEAD_BYTES + writer._written
    record = batch(1)
    writer.write(record)
    with path.open("r+b") as file:
        file.seek(at)
        frame = file.read(padded(len(writer._encode(record))))
        file.seek(at)
        file.write(bytes(len(frame)))
        file.flush()
        assert reader.read() == []
        file.seek(at)
        file.write(frame)
        file.flush()
    assert reader.read() == [record]
    assert reader.scoreboard().corrupt == 0


def test_a_damaged_frame_is_counted_and_passed(path, writer, reader):
    writer.write(batch(0))
    with path.open("r+b") as file:
        file.seek(HEAD_BYTES + FRAME.size)
        file.write(b"\xff")
    reads = [reader.read() for _ in range(10)]
    assert reads == [[]] * 10
    assert reader.scoreboard().corrupt == 1
    writer.write(batch(1))
    assert [record.sequence for record in reader.read()] == [1]


def test_a_file_cut_short_gives_no_records_and_no_signal(path, writer, reader):
    writer.write(batch(0))
    os.truncate(path, HEAD_BYTES)
    assert reader.read() == []
    os.truncate(path, HEAD_BYTES + CAPACITY)


@pytest.mark.parametrize("content", [b"", b"x" * 100, b"x" * 8192])
def test_a_foreign_file_is_no_ring(path, content):
    path.write_bytes(content)
    with pytest.raises(RingFormatError, match=r"a\.ring"):
        RingReader(path)


def test_a_ring_of_another_layout_is_refused(path, writer):
    writer._words[Word.VERSION] = 99
    with pytest.raises(RingFormatError, match="layout 99"):
        RingReader(path)


def test_the_scoreboard_shows_what_the_stub_does(writer, reader):
    writer.scores.state = State.EXECUTING
    writer.scores.batch_size = 8
    writer.show_status()
    board = reader.scoreboard()
    assert (board.pid, board.state, board.batch_size) == (42, State.EXECUTING, 8)
    writer.scores.state = 77
    writer.scores.busy_ns = 5
    writer.show()
    assert reader.scoreboard().busy_ns == 5
    assert reader.scoreboard().state is State.UNKNOWN


def test_an_instance_too_long_for_the_head_loses_its_repository_only(tmp_path):
    writer = RingWriter(tmp_path / "b.ring", InstanceRecord("m", "1", "m_0", 1, repository="r" * 5000), CAPACITY)
    reader = RingReader(tmp_path / "b.ring")
    assert (reader.instance.model, reader.instance.repository) == ("m", "")
    reader.close()
    writer.close()


def test_the_file_is_never_replaced(path, writer):
    with pytest.raises(FileExistsError):
        RingWriter(path, INSTANCE, CAPACITY)


WRITE_AND_DIE = """
import os, sys
from pathlib import Path
from tritonscope.records import BatchRecord, InstanceRecord
from tritonscope.ring.writer import RingWriter
writer = RingWriter(Path(sys.argv[1]), InstanceRecord("m", "1", "m_0", os.getpid()), 4096)
writer.write(BatchRecord(0, 1, 2, 3, ()))
if sys.argv[2] == "fork":
    closed, close = os.pipe()
    if os.fork() == 0:
        writer.close()
        os.write(close, b"!")
        sys.stdin.read()
        os._exit(0)
    os.read(closed, 1)
print("written", flush=True)
sys.stdin.read() if sys.argv[2] == "wait" else os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("way", ["kill", "fork"])
def test_a_killed_writer_is_seen_dead_and_its_records_are_read(path, way):
    """Also while a child that it forked lives on."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_AND_DIE, str(path), way], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.wait(20) == -9
    reader = RingReader(path)
    assert not reader.writer_alive()
    assert [record.sequence for record in reader.read()] == [0]
    reader.close()
    process.stdin.close()
    process.stdout.close()


def test_a_living_writer_is_seen_alive(path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_AND_DIE, str(path), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"written\n"
    reader = RingReader(path)
    assert reader.writer_alive()
    process.communicate()
    assert not reader.writer_alive()
    reader.close()
