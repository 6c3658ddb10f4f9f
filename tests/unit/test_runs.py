"""The run file: what is written is read again, whoever writes it, and damage costs only itself."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.errors import RunFileError
from tritonscope.evidence import BatchStatistics, HostSample, LoadReport, ModelStatistics, StatisticsSample
from tritonscope.records import (
    BatchRecord,
    InstanceRecord,
    LateRecord,
    LifecycleRecord,
    RequestRecord,
    ResponseRecord,
    StageRecord,
)
from tritonscope.runs import ConfigLine, RunWriter, read_run

INSTANCE = InstanceRecord("decode", "1", "decode_0_0", 42)
LOAD = LoadReport("p", 10, 3, 0, 1, 2, 3, 4, 5, 6, concurrency=8)
HOST = HostSample(7, 2, 9)
STATISTICS = StatisticsSample(
    5, (ModelStatistics("m", "1", *range(10), batches=(BatchStatistics(1, 2, 3, 4, 5),)),), "http://localhost:8000"
)
LIFE = LifecycleRecord("initialize", 1, 2, "ValueError: no")
LATE = LateRecord(1, ResponseRecord(0, 5, final=True))
CONFIG = ConfigLine("m", {"name": "m", "instance_group": [{"kind": "KIND_CPU"}]})


def batch(sequence: int) -> BatchRecord:
    details = (StageRecord(1, 0, "tokenize", 5, 3, 2),)
    return BatchRecord(
        sequence, 10, 20, 15, (RequestRecord("id", '{"a":1}', error="ÿ\n"),), "ValueError: no", details
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def write(path, *lines):
    writer = RunWriter(path)
    for line in lines:
        writer.write(line)
    writer.close()


def test_everything_comes_back(path):
    writer = RunWriter(path)
    writer.write_instance(INSTANCE)
    writer.write_events("decode_0_0", [batch(1), batch(2)])
    writer.write_events("decode_0_0", [batch(3)])
    writer.write_events("classify_0_0", [LIFE, batch(1), LATE])
    for line in (STATISTICS, HOST, LOAD, CONFIG):
        writer.write(line)
    writer.close()
    run = read_run(path)
    assert run.instances == {"decode_0_0": INSTANCE}
    assert run.batches == {"decode_0_0": [batch(1), batch(2), batch(3)], "classify_0_0": [batch(1)]}
    assert run.events == {"classify_0_0": [LIFE, LATE]}
    assert (run.statistics, run.hosts, run.loads) == ((STATISTICS,), (HOST,), (LOAD,))
    assert run.configs == {"m": CONFIG}
    assert run.damaged_lines == ()
    assert run.header.created_unix_ns > 0


@given(st.lists(st.builds(HostSample, *[st.integers(0, (1 << 63) - 1)] * 3), max_size=5))
def test_samples_come_back_in_their_order(tmp_path_factory, samples):
    path = tmp_path_factory.mktemp("runs") / "run.jsonl"
    write(path, *samples)
    assert read_run(path).hosts == tuple(samples)


def test_an_instance_without_batches_is_kept(path):
    writer = RunWriter(path)
    writer.write_instance(INSTANCE)
    writer.write_events("decode_0_0", [])
    writer.close()
    assert read_run(path).batches == {"decode_0_0": []}


def test_writers_append_one_after_the_other(path):
    write(path, HOST)
    header = read_run(path).header
    write(path, LOAD)
    run = read_run(path)
    assert (run.header, run.hosts, run.loads) == (header, (HOST,), (LOAD,))


def test_a_reader_sees_whole_lines_only(path):
    writer = RunWriter(path)
    writer.write(HOST)
    assert path.read_bytes() == b""
    writer.flush()
    assert read_run(path).hosts == (HOST,)
    for _ in range(3000):
        writer.write(HOST)
    size = path.stat().st_size
    assert size > 1 << 16
    assert path.read_bytes().endswith(b"\n")
    writer.close()


def test_a_line_that_was_cut_off_costs_only_itself(path):
    write(path, HOST, LOAD)
    path.write_bytes(path.read_bytes()[:-9])
    run = read_run(path)
    assert (run.hosts, run.loads, run.damaged_lines) == ((HOST,), (), (3,))


def test_a_writer_that_follows_a_dead_one_begins_a_new_line(path):
    write(path, HOST, LOAD)
    path.write_bytes(path.read_bytes()[:-9])
    write(path, STATISTICS)
    run = read_run(path)
    assert (run.statistics, run.damaged_lines) == ((STATISTICS,), (3,))


@pytest.mark.parametrize(
    "damage", [b"{}\n", b"\xff\xfe\n", b'{"type":"from-tomorrow"}\n', b'{"type":"host"}\n', b"\n"]
)
def test_damage_in_the_middle_is_counted_with_its_line(path, damage):
    write(path, HOST)
    with path.open("ab") as file:
        file.write(damage)
    write(path, LOAD)
    run = read_run(path)
    assert (run.hosts, run.loads, run.damaged_lines) == ((HOST,), (LOAD,), (3,))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "its first line is not a run's header"),
        (b"hello\n", "its first line is not a run's header"),
        (b"\xff\n", "its first line is not a run's header"),
        (
            b'{"format":"other","version":1,"tritonscope":"1","created_unix_ns":0,"monotonic_offset_ns":0}\n',
            "'other'",
        ),
    ],
)
def test_what_is_no_run_file_is_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(RunFileError, match=reason):
        read_run(path)


def test_no_writer_adds_to_a_file_of_another_kind(path):
    path.write_text("my notes\n")
    with pytest.raises(RunFileError, match="is not a run file"):
        RunWriter(path)
    assert path.read_text() == "my notes\n"


def test_a_newer_format_asks_for_an_upgrade(path):
    write(path, HOST)
    header = msgspec.json.decode(path.read_bytes().splitlines()[0])
    path.write_bytes(msgspec.json.encode({**header, "version": 2, "tritonscope": "9.9"}) + b"\n")
    with pytest.raises(RunFileError, match=r"written by tritonscope 9\.9 in format 2; .*upgrade"):
        read_run(path)


def test_a_missing_file_is_named(path):
    with pytest.raises(RunFileError, match=r"run\.jsonl cannot be read: No such file"):
        read_run(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RunFileError, match="cannot be written"):
        RunWriter(tmp_path / "nowhere" / "run.jsonl")
    with pytest.raises(RunFileError, match="cannot be"):
        RunWriter(tmp_path)
