"""A real Jaeger, asked by its API, shows one trace a request that goes from the client into every Python stage."""

import sys

import pytest

from tests.integration.backends import running_jaeger
from tests.integration.pipeline import CLIENT_SPAN, CLIENT_TRACE, TRACEPARENT, classify, connect
from tritonscope.server.examples import example_repository
from tritonscope.server.pictures import sample_pictures

pytestmark = [pytest.mark.server, pytest.mark.backends]

STAGES = {"decode", "classify", "label"}
OURS, TRITONS = "tritonscope", "triton-server"


@pytest.fixture(scope="module")
def jaeger(tmp_path_factory):
    with running_jaeger(tmp_path_factory.mktemp("jaeger")) as jaeger:
        yield jaeger


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
