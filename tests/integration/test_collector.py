"""Spans go through real Collectors with the configurations in `otel/` into a real Jaeger; what matters is kept."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tests.integration.backends import running_collector, running_jaeger, wait_until
from tritonscope import ids
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.writer import RingWriter

pytestmark = pytest.mark.backends

SEED = 7
SIZES = (1, 8, 129, 300)
SLOW_NS, FAST_NS = 200_000_000, 1_000_000
DECISION = {"DECISION_WAIT": "1s", "SLOW_EXECUTE_NS": SLOW_NS // 2, "SLOW_TRACE_MS": 10_000, "KEPT_PERCENT": 0}


@pytest.fixture(scope="module")
def jaeger(tmp_path_factory):
    """A Jaeger, and in front of it a gateway and a Collector of a host; spans go to the last of these."""
    folder = tmp_path_factory.mktemp("collectors")
    with ExitStack() as stack:
        jaeger = stack.enter_context(running_jaeger(folder))
        there = jaeger.otlp_grpc.removeprefix("http://")
        _, gateway = stack.enter_context(running_collector(folder, "collector-gateway.yaml", there, **DECISION))
        host, _ = stack.enter_context(running_collector(folder, "collector-host.yaml", f"127.0.0.1:{gateway}"))
        jaeger.through = f"http://127.0.0.1:{host}"
        yield jaeger


def send(folder, endpoint, batches):
    """Let the agent send the spans of `batches`, as a stub's ring holds them."""
    writer = RingWriter(folder / "m_0.ring", InstanceRecord("m", "1", "m_0", os.getpid(), span_seed=SEED))
    for batch in batches:
        assert writer.write(batch)
    subprocess.run(
        [sys.executable, "-m", "tritonscope", "agent", "--once", "--dir", folder],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
        check=True,
    )
    writer.close()


def batch(sequence, size, wall_ns, error=""):
    requests = tuple(RequestRecord(f"{sequence}-{index}") for index in range(size))
    return BatchRecord(sequence, time.monotonic_ns() - wall_ns, wall_ns, wall_ns // 2, requests, error)


def test_slow_and_failed_batches_are_kept_with_all_their_requests_and_links(jaeger, tmp_path):
    slow = [batch(number, size, SLOW_NS) for number, size in enumerate(SIZES)]
    fast = batch(10, 8, FAST_NS)
    failed = batch(11, 8, FAST_NS, "ValueError: no")
    send(tmp_path, jaeger.through, [fast, *slow, failed])
    for kept in (*slow, failed):
        check_whole(jaeger, kept.sequence, len(kept.requests))
    for trace_id in traces_of(fast.sequence, 8):
        assert jaeger.spans(trace_id) == []


def traces_of(sequence, size):
    """Return the ids of the traces of a batch's requests and, where it has one, its own."""
    requests = [ids.request_trace_id(SEED, sequence, index).hex() for index in range(size)]
    return requests if size == 1 else [*requests, ids.batch_trace_id(SEED, sequence).hex()]


def check_whole(jaeger, sequence, size):
    """Check a batch's own trace and, for a few of its requests, theirs: each links the other."""
    own_id = ids.batch_span_id(SEED, sequence).hex()
    if size == 1:
        spans = wait_until(lambda: jaeger.spans(traces_of(sequence, 1)[0]), "the trace of a batch of 1")
        assert [span["operationName"] for span in spans if span["spanID"] == own_id] == ["m batch"]
        return
    *requests, trace = traces_of(sequence, size)
    spans = wait_until(lambda: jaeger.spans(trace), f"the trace of a batch of {size}")
    assert {span["operationName"] for span in spans} == {"m batch", "compute"}
    (own,) = [span for span in spans if span["spanID"] == own_id]
    linked = {(link["traceID"], link["spanID"]) for link in own["references"]}
    asked = {(requests[index], ids.request_span_id(SEED, sequence, index).hex()) for index in range(size)}
    assert linked == asked
    for request in (requests[0], requests[-1]):
        (span,) = wait_until(lambda request=request: jaeger.spans(request), "the trace of a request")
        assert [(link["traceID"], link["spanID"]) for link in span["references"]] == [(trace, own_id)]
