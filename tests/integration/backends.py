"""Programs that take spans, as tests run them: Jaeger and the Collector, with the configurations in `otel/`."""

import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tritonscope.server.cache import cache_directory
from tritonscope.server.listeners import free_ports

OTEL = Path(__file__).parents[2] / "otel"


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
        found = wait_until(lambda: self._at_least(trace_id, spans), f"{spans} spans of trace {trace_id}")
        return {span["spanID"]: Span(span) for span in found}

    def spans(self, trace_id):
        """Return the spans that there are now of a trace, as Jaeger tells them."""
        data = httpx.get(f"{self.api}/traces/{trace_id}").json().get("data") or [{"spans": []}]
        return data[0]["spans"]

    def _at_least(self, trace_id, least):
        spans = self.spans(trace_id)
        return spans if len(spans) >= least else None


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


def binary(name, version, variable):
    """Return the program that `make NAME` builds; skips where it has not been built."""
    path = Path(os.environ.get(variable) or cache_directory() / f"{name}-{version}" / name)
    if not path.is_file():
        pytest.skip(f"no {name} at {path}: make {name} builds it")
    return path


@contextmanager
def running(program, config, variables, is_up, log):
    """Run `program` with a configuration until the block ends; `variables` are for its ports."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    with log.open("w") as out:
        process = subprocess.Popen([program, "--config", OTEL / config], env=environment, stdout=out, stderr=out)
    try:
        wait_until(lambda: process.poll() is not None or is_up(), f"{program.name} with {config}")
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def running_jaeger(folder):
    """Run a Jaeger, with its log in `folder`."""
    query, query_grpc, http, grpc, *_ = (*free_ports(), *free_ports())
    ports = {
        "JAEGER_QUERY": query,
        "JAEGER_QUERY_GRPC": query_grpc,
        "JAEGER_OTLP_HTTP": http,
        "JAEGER_OTLP_GRPC": grpc,
    }
    jaeger = Jaeger(query, http, grpc)
    program = binary("jaeger", "1.76.0", "TRITONSCOPE_JAEGER")
    with running(program, "jaeger.yaml", ports, jaeger.is_up, folder / "jaeger.log"):
        yield jaeger


@contextmanager
def running_collector(folder, config, traces_endpoint, **variables):
    """Run a Collector that sends to `traces_endpoint` (host:port, gRPC); yields its ports for HTTP and gRPC."""
    http, grpc, health, *_ = (*free_ports(), *free_ports())
    ports = {"COLLECTOR_OTLP_HTTP": http, "COLLECTOR_OTLP_GRPC": grpc, "COLLECTOR_HEALTH": health}
    program = binary("collector", "0.161.0", "TRITONSCOPE_COLLECTOR")

    def is_up():
        try:
            return httpx.get(f"http://127.0.0.1:{health}").is_success
        except httpx.TransportError:
            return False

    environment = {**ports, "TRACES_ENDPOINT": traces_endpoint, **variables}
    with running(program, config, environment, is_up, folder / f"{config}.log"):
        yield http, grpc
