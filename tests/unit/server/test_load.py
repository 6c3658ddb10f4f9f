"""The load generator sends what the plan says and counts what came back, against a gRPC server in this process."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from tritonscope.errors import ServerUnreachableError, UsageError
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan, OpenLoop
from tritonscope.server.payloads import InputTensor
from tritonscope.server.target import describe

SERVICE_S = 0.02


class Inference(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Answers like Triton, notes what it was sent, and keeps count of what is in flight."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.service_s = 0.0
        self.decoupled = False

    def ModelInfer(self, request, context):  # noqa: N802 - Triton's name
        with self.lock:
            self.seen.append((request.raw_input_contents[0], dict(context.invocation_metadata())))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        time.sleep(self.service_s)
        with self.lock:
            self.in_flight -= 1
        if request.raw_input_contents[0] == b"\0":
            context.abort(grpc.StatusCode.INTERNAL, "zero is refused")
        return service_pb2.ModelInferResponse(model_name=request.model_name)

    def ServerLive(self, request, context):  # noqa: N802 - Triton's name
        return service_pb2.ServerLiveResponse(live=True)

    def ModelReady(self, request, context):  # noqa: N802 - Triton's name
        return service_pb2.ModelReadyResponse(ready=request.name == "m")

    def RepositoryIndex(self, request, context):  # noqa: N802 - Triton's name
        return service_pb2.RepositoryIndexResponse(models=[{"name": "m"}, {"name": "a"}])

    def ModelMetadata(self, request, context):  # noqa: N802 - Triton's name
        inputs = [
            {"name": "A", "datatype": "UINT8", "shape": [-1, 4]},
            {"name": "B", "datatype": "BOOL", "shape": [1]},
        ]
        return service_pb2.ModelMetadataResponse(name="m", inputs=inputs)

    def ModelConfig(self, request, context):  # noqa: N802 - Triton's name
        response = service_pb2.ModelConfigResponse()
        response.config.max_batch_size = 16
        response.config.input.add(name="A")
        response.config.input.add(name="B", optional=True)
        response.config.model_transaction_policy.decoupled = self.decoupled
        return response


@pytest.fixture
def inference():
    return Inference()


@pytest.fixture
def url(inference):
    server = grpc.server(ThreadPoolExecutor(16))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(inference, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()


def payload(value):
    return [InputTensor("A", "UINT8", np.array([value], np.uint8))]


def plan(url, **options) -> LoadPlan:
    given = {"payloads": [payload(1)], "loop": ClosedLoop(2), "warmup_s": 0, "duration_s": None, "requests": 20}
    return LoadPlan(url, "m", **{**given, **options})


def test_payloads_are_sent_in_turn(url, inference):
    run_load(plan(url, payloads=[payload(1), payload(2), payload(3)], loop=ClosedLoop(1), requests=6))
    assert [content for content, _ in inference.seen[:6]] == [b"\1", b"\2", b"\3"] * 2


def test_number_of_requests_is_exact(url):
    report = run_load(plan(url, loop=ClosedLoop(8), requests=37))
    assert (report.requests, report.failures, report.concurrency) == (37, 0, 8)


def test_closed_loop_keeps_its_concurrency_and_never_more(url, inference):
    inference.service_s = SERVICE_S
    run_load(plan(url, loop=ClosedLoop(5), requests=30))
    assert inference.most_in_flight == 5


def test_latency_holds_the_service_time(url, inference):
    inference.service_s = SERVICE_S
    report = run_load(plan(url))
    assert report.latency_p50_ns >= SERVICE_S * 1e9
    assert report.latency_mean_ns <= report.latency_max_ns <= report.window_ns


def test_failures_are_counted_and_the_first_is_kept(url):
    report = run_load(plan(url, payloads=[payload(0), payload(1)], loop=ClosedLoop(1), requests=8))
    assert (report.requests, report.failures) == (4, 4)
    assert report.first_error == "INTERNAL: zero is refused"


def test_warm_up_is_not_counted(url, inference):
    report = run_load(plan(url, warmup_s=0.2, requests=10))
    assert report.requests == 10
    assert len(inference.seen) > 10


def test_each_request_carries_its_own_headers(url, inference):
    numbers = iter(range(1000))
    run_load(plan(url, headers=lambda: {"traceparent": f"00-{next(numbers):032x}-1-01"}, requests=5))
    parents = [headers["traceparent"] for _, headers in inference.seen]
    assert len(set(parents)) == len(parents) >= 5


def test_hooks_enclose_the_window_while_the_load_goes_on(url, inference):
    edges = []

    def before():
        edges.append(len(inference.seen))

    async def after():
        edges.append(len(inference.seen))

    report = run_load(plan(url, warmup_s=0.05, requests=50), on_window_start=before, on_window_end=after)
    assert report.requests == 50
    # Two of the fifty may have been on their way before the window.
    assert edges[1] - edges[0] >= 50 - 2


def test_progress_tells_both_phases(url):
    told = []
    run_load(plan(url, warmup_s=0.3, duration_s=0.5, requests=None), on_progress=told.append)
    assert {one.phase for one in told} == {"warm-up", "measuring"}
    assert {one.total_s for one in told} == {0.3, 0.5}


def test_open_loop_latency_counts_from_the_moment_a_request_was_due(url, inference):
    """One slot and a slow server: request k waits for k others, although each was answered in one service time."""
    inference.service_s = SERVICE_S
    rate = 1000.0
    report = run_load(plan(url, loop=OpenLoop(rate, poisson=False, max_in_flight=1), requests=10))
    assert report.latency_max_ns >= (10 * SERVICE_S - 10 / rate) * 1e9
    assert (report.concurrency, report.rate_per_s) == (0, rate)


def test_open_loop_does_not_wait_for_replies(url, inference):
    inference.service_s = 5 * SERVICE_S
    run_load(plan(url, loop=OpenLoop(500, poisson=True), requests=20))
    assert inference.most_in_flight > 5


def test_an_error_of_the_headers_ends_the_load(url):
    def headers():
        raise KeyError("no trace left")

    with pytest.raises(KeyError, match="no trace left"):
        run_load(plan(url, headers=headers))


def test_a_server_that_is_gone_gives_failures_and_an_end():
    report = run_load(plan("127.0.0.1:9", requests=3))
    assert (report.requests, report.failures) == (0, 3)
    assert report.first_error.startswith("UNAVAILABLE")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"payloads": []}, "no request to send"),
        ({"requests": None}, "needs an end"),
        ({"requests": 0}, "1 or more"),
        ({"duration_s": -1.0}, "above 0 s"),
        ({"loop": ClosedLoop(0)}, "concurrency must be 1 or more"),
        ({"loop": OpenLoop(0)}, "rate must be above 0"),
    ],
)
def test_plan_that_makes_no_sense_is_refused(options, reason):
    with pytest.raises(UsageError, match=reason):
        run_load(plan("127.0.0.1:9", **options))


def test_target_is_described_by_metadata_and_configuration(url):
    target = describe(url, "m")
    assert target.max_batch_size == 16
    assert [(one.name, one.datatype, one.shape, one.optional) for one in target.inputs] == [
        ("A", "UINT8", (-1, 4), False), ("B", "BOOL", (1,), True),
    ]  # fmt: skip


def test_target_that_is_not_ready_is_answered_with_those_that_are(url):
    with pytest.raises(UsageError, match="no model x version 3 that is ready; ready are: a, m"):
        describe(url, "x", "3")


def test_decoupled_target_is_refused(url, inference):
    inference.decoupled = True
    with pytest.raises(UsageError, match="decoupled"):
        describe(url, "m")


def test_no_server_is_named_by_its_url():
    with pytest.raises(ServerUnreachableError, match=r"127\.0\.0\.1:9 .*8001"):
        describe("127.0.0.1:9", "m")
