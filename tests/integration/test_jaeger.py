"""A real Jaeger, asked by its API, shows one trace a request that goes from the client into every Python stage."""

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.integration.pipeline import CLIENT_SPAN, CLIENT_TRACE, TRACEPARENT, classify, connect
from tritonscope.server.cache import cache_directory
from tritonscope.server.examples import example_repository
from tritonscope.server.listeners import free_ports
from tritonscope.server.pictures import sample_pictures

pytestmark = [pytest.mark.server, pytest.mark.jaeger]

ROOT = Path(__file__).parents[2]
STAGES = {"decode", "classify", "label"}
OURS, TRITONS = "tritonscope", "triton-server"


class Jaeger:
    """A running Jaeger: where it takes spans, and the traces it has."""

    def __init__(self, query: int, http: int, grpc: int):
        self.api = f"http://127.0.0.1:{query}/api"
        self.otlp_http = f"http://127.0.0.1:{http}"
        self.otlp_grpc = f"http://127.0.0.1:{grpc}"

    def is_up(self):
        try:
            return httpx.get(f"{self.api}/services").is_success
        except httpx.TransportError:
            return False

    def trace(self, trace_id, spans):
        """Return the spans of a trace once there are `spans` of them, each with its scope and its parent."""
        found = wait_until(lambda: self._spans(trace_id, spans), f"{spans} spans of trace {trace_id}")
        return {span["spanID"]: Span(span) for span in found}

    def _spans(self, trace_id, least):
        data = httpx.get(f"{self.api}/traces/{trace_id}").json().get("data") or [{"spans": []}]
        return data[0]["spans"] if len(data[0]["spans"]) >= least else None


class Span:
    def __init__(self, json):
        self.name = json["operationName"]
        self.tags = {tag["key"]: tag["value"] for tag in json["tags"]}
        self.scope = self.tags.get("otel.scope.name") or self.tags.get("otel.library.name")
        self.parent = next((ref["spanID"] for ref in json["references"] if ref["refType"] == "CHILD_OF"), None)
        self.start_us, self.end_us = json["startTime"], json["startTime"] + json["duration"]


def wait_until(look, what, timeout_s=30):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError(f"after {timeout_s} s still no {what}")


@pytest.fixture(scope="module")
def jaeger(tmp_path_factory):
    binary = Path(os.environ.get("TRITONSCOPE_JAEGER") or cache_directory() / "jaeger-1.76.0" / "jaeger")
    if not binary.is_file():
        pytest.skip(f"no Jaeger at {binary}: make jaeger builds it")
    query, query_grpc, http, grpc, *_ = (*free_ports(), *free_ports())
    ports = {
        "JAEGER_QUERY": query,
        "JAEGER_QUERY_GRPC": query_grpc,
        "JAEGER_OTLP_HTTP": http,
        "JAEGER_OTLP_GRPC": grpc,
    }
    log = tmp_path_factory.mktemp("jaeger") / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [binary, "--config", ROOT / "otel" / "jaeger.yaml"],
            env={**os.environ, **{name: str(port) for name, port in ports.items()}}, stdout=out, stderr=out,
        )  # fmt: skip
    running = Jaeger(query, http, grpc)
    try:
        wait_until(lambda: process.poll() is not None or running.is_up(), f"Jaeger; its log:\n{log.read_text()}")
        assert process.poll() is None, log.read_text()
        yield running
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def observed(serve, tmp_path):
    """Serves the example with the import hook on and the agent sending to a Jaeger."""

    def start(environment, **options):
        prefix = [sys.executable, "-m", "tritonscope", "run", "--dir", str(tmp_path / "rings"), "--"]
        return serve(example_repository(), command_prefix=prefix, env=environment, **options)

    return start


def ours_by_name(trace):
    """Our request spans of a trace: those that are named as a stage."""
    return {span.name: span for span in trace.values() if span.scope == OURS and span.name in STAGES}


def test_with_tritons_own_tracing_each_stage_hangs_under_tritons_span_of_it(jaeger, observed):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": jaeger.otlp_http}
    with observed(environment, otlp_url=f"{jaeger.otlp_http}/v1/traces") as server:
        classify(connect(server.grpc_url), sample_pictures()[0], TRACEPARENT, request_id="r-1")
    # Triton: the request, the ensemble, and a model and a compute span a stage. Ours: three spans a stage.
    trace = jaeger.trace(CLIENT_TRACE, 2 + 2 * 3 + 3 * 3)
    ours = ours_by_name(trace)
    assert set(ours) == STAGES
    for stage, span in ours.items():
        parent = trace[span.parent]
        assert (parent.scope, parent.name) == (TRITONS, stage)
        assert parent.start_us <= span.start_us <= span.end_us <= parent.end_us
        assert span.tags["triton.request_id"] == "r-1"
    roots = [span for span in trace.values() if span.parent not in trace]
    assert [root.parent for root in roots] == [CLIENT_SPAN]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_without_tritons_tracing_the_forwarded_header_is_the_parent(jaeger, observed, protocol):
    trace_id = CLIENT_TRACE[:-1] + ("1" if protocol == "grpc" else "2")
    endpoint = jaeger.otlp_grpc if protocol == "grpc" else jaeger.otlp_http
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    with observed(environment) as server:
        classify(connect(server.grpc_url), sample_pictures()[0], f"00-{trace_id}-{CLIENT_SPAN}-01")
    trace = jaeger.trace(trace_id, 3 * 3)
    assert {span.scope for span in trace.values()} == {OURS}
    ours = ours_by_name(trace)
    assert set(ours) == STAGES
    assert {span.parent for span in ours.values()} == {CLIENT_SPAN}
