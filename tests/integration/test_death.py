"""A stub that dies within `execute` is seen: its batch's spans say so, with the request's id, and it is counted."""

import json
import sys

import numpy as np
import pytest
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

from tritonscope.testing.otlp_receiver import OtlpReceiver

pytestmark = pytest.mark.server

DIES = """
import os, signal
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_stub_leaves_error_spans_and_a_count(tmp_path, serve, write_add_one):
    repository = tmp_path / "models"
    write_add_one(repository, "dies", model=DIES)
    summary = tmp_path / "summary.json"
    prefix = [
        sys.executable,
        "-m",
        "tritonscope",
        "run",
        "--dir",
        str(tmp_path / "rings"),
        "--summary-file",
        str(summary),
    ]
    with OtlpReceiver() as receiver:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}
        with serve(repository, command_prefix=[*prefix, "--"], env=environment) as server:
            x = triton.InferInput("X", [1, 4], "FP32")
            x.set_data_from_numpy(np.zeros((1, 4), np.float32))
            with pytest.raises(InferenceServerException):
                triton.InferenceServerClient(server.grpc_url).infer("dies", [x], request_id="last")
            spans = receiver.wait_for(3, timeout_s=5)
    errors = {span.name: span.status.message for span in spans}
    assert set(errors) == {"dies", "dies batch", "compute"}
    assert all("StubDied" in message for message in errors.values())
    (request,) = [span for span in spans if span.name == "dies"]
    assert "last" in {pair.value.string_value for pair in request.attributes}
    assert json.loads(summary.read_text())["stubs_died"] == 1
