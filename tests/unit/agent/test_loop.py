"""The agent from rings on disk to real receivers: nothing is lost, nothing is sent twice, no file is fatal."""

import os
import shutil
import time
from pathlib import Path

import msgspec
import pytest

from tritonscope.agent.exporter import start_delivery
from tritonscope.agent.loop import Agent, Tracing
from tritonscope.agent.otlp_settings import read_otlp_settings
from tritonscope.agent.recording import Recording
from tritonscope.agent.resource import host_resource
from tritonscope.agent.sampling import read_sampler
from tritonscope.agent.source import READ_LIMIT
from tritonscope.errors import RingDirectoryError
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.layout import State
from tritonscope.ring.writer import RingWriter
from tritonscope.runs import read_run

UNSAMPLED = RequestRecord(
    trace_context='{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}'
)


def batch(sequence: int, *requests: RequestRecord) -> BatchRecord:
    return BatchRecord(sequence, 1000 * sequence, 300, 5, requests or (RequestRecord(),))


def write(writer: RingWriter, *records: BatchRecord) -> None:
    for record in records:
        assert writer.write(record)


@pytest.fixture
def tracing_to():
    """Make what an agent needs to send to an endpoint."""

    def make(endpoint: str, **variables: str) -> Tracing:
        settings = read_otlp_settings({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, **variables})
        return Tracing(host_resource(), read_sampler({}), start_delivery(settings))

    return make


def received_spans(receiver) -> list:
    spans = []
    while not receiver.received.empty():
        spans += receiver.received.get().spans
    return spans


def test_spans_arrive_over_http(tmp_path, ring_writer, http_receiver, tracing_to):
    write(ring_writer, batch(0), batch(1, RequestRecord("a"), RequestRecord("b")))
    agent = Agent(tmp_path, tracing_to(http_receiver.endpoint))
    counters = agent.finish()
    spans = received_spans(http_receiver)
    assert sorted(span.name for span in spans) == ["compute"] * 2 + ["decode"] * 3 + ["decode batch"] * 2
    assert counters._asdict() == {
        "spans_sent": 7, "spans_failed": 0, "spans_dropped": 0, "spans_unsampled": 0, "batches": 2, "requests": 3,
        "records_dropped": 0, "damages": 0, "stubs_died": 0, "rings": 1, "rings_removed": 0,
    }  # fmt: skip


def test_spans_arrive_over_grpc(tmp_path, ring_writer, grpc_receiver, tracing_to):
    write(ring_writer, batch(0))
    agent = Agent(tmp_path, tracing_to(f"http://{grpc_receiver.target}", OTEL_EXPORTER_OTLP_PROTOCOL="grpc"))
    assert agent.finish().spans_sent == 3
    assert len(received_spans(grpc_receiver)) == 3


def test_each_instance_has_its_own_resource(tmp_path, ring_writer, http_receiver, tracing_to):
    other = RingWriter(tmp_path / "other.ring", InstanceRecord("ocr", "1", "ocr_0_1", pid=43, span_seed=8))
    write(ring_writer, batch(0))
    write(other, batch(0))
    Agent(tmp_path, tracing_to(http_receiver.endpoint)).finish()
    other.close()
    (received,) = [http_receiver.received.get() for _ in range(http_receiver.received.qsize())]
    pids = {
        attribute.value.int_value: {span.name for span in resource.scope_spans[0].spans}
        for resource in received.request.resource_spans
        for attribute in resource.resource.attributes
        if attribute.key == "process.pid"
    }
    assert pids == {42: {"decode", "decode batch", "compute"}, 43: {"ocr", "ocr batch", "compute"}}


def test_more_records_than_one_read_returns_are_all_sent(tmp_path, ring_writer, http_receiver, tracing_to):
    count = 2 * READ_LIMIT + 5
    write(ring_writer, *(batch(number) for number in range(count)))
    counters = Agent(tmp_path, tracing_to(http_receiver.endpoint)).finish()
    assert (counters.batches, counters.spans_sent) == (count, 3 * count)
    assert len({span.span_id for span in received_spans(http_receiver)}) == 3 * count


def test_a_restarted_agent_goes_on_where_the_last_one_stopped(tmp_path, ring_writer):
    write(ring_writer, batch(0))
    assert Agent(tmp_path).finish().batches == 1
    write(ring_writer, batch(1), batch(2))
    assert Agent(tmp_path).finish().batches == 2


def test_a_ring_is_removed_when_its_stub_is_gone_and_it_is_read(tmp_path, instance):
    writer = RingWriter(tmp_path / "ended.ring", instance)
    write(writer, batch(0))
    agent = Agent(tmp_path)
    assert [agent.poll(), agent.poll()] == [1, 0]
    assert writer.path.exists(), "its stub lives"
    write(writer, batch(1))
    writer.close()
    assert [agent.poll(), agent.poll()] == [1, 0]
    assert not writer.path.exists()
    counters = agent.finish()
    assert (counters.batches, counters.rings, counters.rings_removed) == (2, 1, 1)


def test_a_ring_that_cannot_be_removed_is_told_of_once(tmp_path, instance, caplog):
    writer = RingWriter(tmp_path / "stays.ring", instance)
    write(writer, batch(0))
    agent = Agent(tmp_path)
    agent.poll()
    writer.close()
    writer.path.unlink()
    writer.path.mkdir()
    assert [agent.poll(), agent.poll()] == [0, 0]
    assert len([record for record in caplog.records if "cannot be removed" in record.getMessage()]) == 1
    assert agent.finish().rings_removed == 0


@pytest.fixture
def dead_ring(tmp_path, instance):
    """The ring of a stub that was killed within its batch 5, of two requests."""
    writer = RingWriter(tmp_path / "dead.ring", instance)
    requests = (RequestRecord("a"), RequestRecord("b"))
    writer.show_batch(5, msgspec.msgpack.encode(requests))
    writer.scores.state, writer.scores.batch_size, writer.scores.since_ns = State.EXECUTING, 2, time.monotonic_ns()
    writer.show()
    writer.close()


def test_a_stub_that_died_at_work_is_told_of_and_counted(tmp_path, dead_ring, caplog):
    counters = Agent(tmp_path).finish()
    assert "decode_0_0 (process 42) ended in the middle of a batch of 2" in caplog.text
    assert (counters.stubs_died, counters.batches, counters.requests) == (1, 1, 2)


def test_the_batch_that_a_stub_took_along_becomes_spans_with_errors(tmp_path, dead_ring, http_receiver, tracing_to):
    Agent(tmp_path, tracing_to(http_receiver.endpoint)).finish()
    spans = received_spans(http_receiver)
    assert sorted(span.name for span in spans) == ["compute", "decode", "decode", "decode batch"]
    assert {span.status.message for span in spans} == {
        "StubDied: process 42 of decode_0_0 ended in the middle of this batch"
    }
    ids = {pair.value.string_value for span in spans for pair in span.attributes if pair.key == "triton.request_id"}
    assert ids == {"a", "b"}


def test_a_batch_too_long_to_be_shown_still_counts_its_requests(tmp_path, instance):
    writer = RingWriter(tmp_path / "dead.ring", instance)
    writer.show_batch(5, b"x" * 100_000)
    writer.scores.state, writer.scores.batch_size = State.EXECUTING, 300
    writer.show()
    writer.close()
    assert Agent(tmp_path).finish().requests == 300


def test_batches_that_found_the_ring_full_are_counted(tmp_path, instance):
    writer = RingWriter(tmp_path / "full.ring", instance, 4096)
    written = sum(writer.write(batch(number)) for number in range(1000))
    writer.show()
    counters = Agent(tmp_path).finish()
    writer.close()
    assert counters.records_dropped == 1000 - written > 0
    assert counters.batches == written


def test_unsampled_spans_are_counted(tmp_path, ring_writer, http_receiver, tracing_to):
    write(ring_writer, batch(0, UNSAMPLED), batch(1, UNSAMPLED, RequestRecord()))
    counters = Agent(tmp_path, tracing_to(http_receiver.endpoint)).finish()
    assert (counters.spans_sent, counters.spans_unsampled) == (3, 4)


def test_a_ring_that_is_cut_short_is_skipped_and_the_others_are_read(tmp_path, ring_writer, instance, caplog):
    victim = RingWriter(tmp_path / "victim.ring", instance)
    write(victim, batch(0))
    agent = Agent(tmp_path)
    assert agent.poll() == 1
    os.truncate(victim.path, 100)
    write(ring_writer, batch(0))
    assert [agent.poll(), agent.poll()] == [1, 0]
    assert len([record for record in caplog.records if "victim.ring" in record.getMessage()]) == 1
    counters = agent.finish()
    assert (counters.batches, counters.rings) == (2, 2)


def test_without_tracing_records_are_counted_all_the_same(tmp_path, ring_writer):
    write(ring_writer, batch(0))
    counters = Agent(tmp_path).finish()
    assert (counters.batches, counters.spans_sent, counters.spans_unsampled) == (1, 0, 0)


def test_everything_seen_is_in_the_run_file(tmp_path, ring_writer, instance):
    records = [batch(number) for number in range(3)]
    write(ring_writer, *records)
    Agent(tmp_path, recording=Recording(tmp_path / "today.jsonl")).finish()
    run = read_run(tmp_path / "today.jsonl")
    assert run.instances == {"decode_0_0": instance}
    assert run.batches == {"decode_0_0": records}


def test_a_full_disk_ends_the_recording_with_one_line_and_not_the_agent(tmp_path, ring_writer, caplog):
    agent = Agent(tmp_path, recording=Recording(Path("/dev/full")))
    for sequence in range(3):
        write(ring_writer, batch(sequence))
        agent.poll()
    assert agent.finish().batches == 3
    assert len([record for record in caplog.records if "/dev/full" in record.getMessage()]) == 1


class Time:
    """Passes only in `wait`, which says stop after so many calls."""

    def __init__(self, stop_after: int):
        self.now_s, self.waits, self._stop_after = 0.0, [], stop_after

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> bool:
        self.now_s += seconds
        self.waits.append(seconds)
        return len(self.waits) == self._stop_after


def test_the_loop_pauses_between_looks_but_not_while_a_ring_holds_more(tmp_path, ring_writer):
    write(ring_writer, *(batch(number) for number in range(READ_LIMIT + 1)))
    time = Time(stop_after=3)
    agent = Agent(tmp_path, clock=time)
    agent.run(time.wait, 0.1)
    assert time.waits == [0.0, 0.1, 0.1]
    assert agent.finish().batches == READ_LIMIT + 1


def test_the_loop_ends_when_no_record_has_come_for_long_enough(tmp_path, ring_writer):
    time = Time(stop_after=100)

    def wait(seconds: float) -> bool:
        if len(time.waits) == 2:
            write(ring_writer, batch(0))
        return time.wait(seconds)

    Agent(tmp_path, clock=time).run(wait, 1.0, idle_s=5.0)
    assert time.now_s == 3.0 + 5.0


def test_a_folder_that_disappears_ends_the_loop_and_what_was_read_still_goes_out(
    tmp_path, instance, http_receiver, tracing_to
):
    directory = tmp_path / "rings"
    writer = RingWriter(directory / "a.ring", instance)
    write(writer, batch(0))
    agent = Agent(directory, tracing_to(http_receiver.endpoint))
    agent.poll()
    shutil.rmtree(directory)
    with pytest.raises(RingDirectoryError):
        agent.poll()
    assert agent.finish().spans_sent == 3
    writer.close()
