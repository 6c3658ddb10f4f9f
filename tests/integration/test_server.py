"""A real server starts on every Python, answers rightly, says why it cannot start, and leaves nothing behind."""

import json
import os
import select
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton

from tritonscope.cli import main
from tritonscope.errors import RepositoryError, ServerError, ServerStartError
from tritonscope.server.listeners import family, is_running
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan, OpenLoop
from tritonscope.server.payloads import InputTensor

pytestmark = pytest.mark.server

TELLS_ITS_PYTHON = """
import json, sys
import numpy as np
import triton_python_backend_utils as pb_utils
import tritonscope


class TritonPythonModel:
    def execute(self, requests):
        said = json.dumps([sys.version_info[:2], sys.prefix, np.__version__, tritonscope.__version__])
        one = pb_utils.Tensor("SAID", np.array([said.encode()], dtype=object))
        return [pb_utils.InferenceResponse([one]) for _ in requests]
"""
FAILS = "raise RuntimeError('the weights are not there')\n"
# 127.0.0.1 in /proc/net/tcp, and in tcp6, where gRPC's sockets are.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
WAIT_S = 30


def infer(url, values, model="add1"):
    client = triton.InferenceServerClient(url)
    tensor = triton.InferInput("X", list(values.shape), "FP32")
    tensor.set_data_from_numpy(values)
    result = client.infer(model, [tensor])
    client.close()
    return result


@pytest.fixture(scope="module")
def server(add_one_repository, serve):
    with serve(add_one_repository) as running:
        yield running


@pytest.fixture
def url(server):
    return server.grpc_url


@pytest.fixture
def span_sink():
    """An HTTP server that keeps what is posted to it."""

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            """Keep the test's output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Keep) as sink:
        sink.received = []
        sink.url = f"http://127.0.0.1:{sink.server_port}/v1/traces"
        thread = threading.Thread(target=sink.serve_forever)
        thread.start()
        yield sink
        sink.shutdown()
        thread.join()


def gone(pids: dict[int, int]) -> list[int]:
    return [pid for pid, started in pids.items() if not is_running(pid, started)]


def test_stages_run_on_the_python_that_was_asked_for(tmp_path, triton_python, serve, write_add_one):
    repository = write_add_one(tmp_path / "repository")
    config = "output [{ name: 'SAID' data_type: TYPE_STRING dims: [1] }]"
    write_add_one(repository, "tells", model=TELLS_ITS_PYTHON, config=config)
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    with serve(repository, python=triton_python) as server:
        assert np.array_equal(infer(server.grpc_url, values).as_numpy("Y"), values + 1)
        version, prefix, numpy_version, ours = json.loads(
            infer(server.grpc_url, values[:1], "tells").as_numpy("SAID").reshape(-1)[0]
        )
        processes = family(server.pid)
    assert ".".join(map(str, version)) == triton_python
    assert Path(prefix).name.startswith(f"python-{triton_python}-")
    assert numpy_version.startswith("1.")
    assert ours
    assert len(processes) == 3  # the server and a stub for each model
    assert gone(processes) == list(processes)


def test_ports_are_the_servers_own_and_only_local(server):
    rows = [line.split() for table in ("tcp", "tcp6") for line in Path("/proc/net", table).read_text().splitlines()]
    for port in (server.http_port, server.grpc_port, server.metrics_port):
        listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
        assert [address.rpartition(":")[0] in LOOPBACK for address in listening] == [True]
    assert Path(f"/proc/{server.pid}/comm").read_text().strip() == "tritonserver"


def test_starting_twice_is_refused(server):
    with pytest.raises(ServerError, match="runs already"):
        server.start()


def test_a_port_that_is_taken_is_named(server, serve, add_one_repository, tmp_path):
    second = serve(add_one_repository, ports=server._now().command.ports, log_path=tmp_path / "log")
    with pytest.raises(ServerStartError, match="already in use"):
        second.start()
    infer(server.grpc_url, np.zeros((1, 4), np.float32))


def test_a_model_that_cannot_load_is_explained_with_its_own_words(tmp_path, serve, write_add_one):
    server = serve(write_add_one(tmp_path, "broken", model=FAILS), log_path=tmp_path / "log" / "server.log")
    with pytest.raises(ServerStartError) as caught:
        server.start()
    message = str(caught.value)
    assert "failed to load 'broken' version 1" in message
    assert "RuntimeError: the weights are not there" in message
    assert str(tmp_path / "log" / "server.log") in message
    assert "\\n" not in message


def test_a_missing_repository_is_refused_before_anything_starts(tmp_path, serve):
    log = tmp_path / "server.log"
    with pytest.raises(RepositoryError, match="no model repository"):
        serve(tmp_path / "nowhere", log_path=log).start()
    assert not log.exists()


def test_behind_a_wrapper_the_server_itself_is_found_and_ended(tmp_path, serve, add_one_repository):
    wrapper = [sys.executable, "-m", "tritonscope", "run", "--no-agent", "--dir", str(tmp_path / "rings"), "--"]
    with serve(add_one_repository, command_prefix=wrapper) as server:
        infer(server.grpc_url, np.zeros((1, 4), np.float32))
        assert Path(f"/proc/{server.pid}/comm").read_text().strip() == "tritonserver"
        processes = family(server.pid)
    assert gone(processes) == list(processes)


def test_the_server_dies_with_the_process_that_started_it(tmp_path, triton_pythons, add_one_repository):
    text = (
        "import sys, time; from tritonscope.server.process import TritonServer\n"
        "server = TritonServer(sys.argv[1]); server.start(); print(server.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text, str(add_one_repository)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as parent:  # fmt: skip
        server_pid = int(parent.stdout.readline())
        server = os.pidfd_open(server_pid)
        parent.kill()
    ended = select.poll()
    ended.register(server, select.POLLIN)
    assert ended.poll(WAIT_S * 1000), "the server outlived its parent"
    os.close(server)


def test_tritons_own_spans_go_to_the_url(serve, add_one_repository, span_sink):
    with serve(add_one_repository, otlp_url=span_sink.url) as server:
        infer(server.grpc_url, np.zeros((1, 4), np.float32))
    # Triton sends what it still has when it ends.
    assert {path for path, _ in span_sink.received} == {"/v1/traces"}
    assert any(b"add1" in body for _, body in span_sink.received)


def test_closed_load_counts_what_the_server_counts(url):
    payloads = [[InputTensor("X", "FP32", np.full((1, 4), value, np.float32))] for value in range(3)]
    client = triton.InferenceServerClient(url)
    seen = []

    def sample():
        stats = client.get_inference_statistics("add1").model_stats[0]
        seen.append(stats.inference_stats.success.count)

    plan = LoadPlan(url, "add1", payloads, ClosedLoop(4), warmup_s=0.2, requests=200, duration_s=None)
    report = run_load(plan, on_window_start=sample, on_window_end=sample)
    client.close()
    assert (report.requests, report.failures, report.first_error) == (200, 0, "")
    # The hooks enclose the window; four requests may have been answered and not received when it began.
    assert seen[1] - seen[0] >= 200 - 4
    assert 0 < report.latency_p50_ns <= report.latency_p99_ns <= report.latency_max_ns


def test_open_load_sends_what_the_rate_says(url):
    payloads = [[InputTensor("X", "FP32", np.zeros((1, 4), np.float32))]]
    plan = LoadPlan(url, "add1", payloads, OpenLoop(100, poisson=False), warmup_s=0.1, duration_s=1.0)
    report = run_load(plan)
    assert 90 <= report.requests <= 110
    assert (report.concurrency, report.rate_per_s) == (0, 100)


def test_requests_that_the_server_refuses_are_failures_with_its_words(url):
    payloads = [[InputTensor("X", "FP32", np.zeros((1, 5), np.float32))]]
    report = run_load(LoadPlan(url, "add1", payloads, ClosedLoop(1), warmup_s=0, requests=3))
    assert (report.requests, report.failures) == (0, 3)
    assert report.first_error.startswith("INVALID_ARGUMENT: ")
    assert "X" in report.first_error


def test_load_command_makes_requests_for_a_model_it_does_not_know(url, capsys):
    code = main(
        ["load", "--url", url, "--model", "add1", "--requests", "20", "--warmup", "0", "--batch", "2", "--json"]
    )
    assert code == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["model"], report["requests"], report["failures"]) == ("add1", 20, 0)


def test_load_command_names_the_models_that_are_ready(url, capsys):
    assert main(["load", "--url", url, "--model", "add2"]) == 2
    assert "has no model add2 that is ready; ready are: add1" in capsys.readouterr().err
