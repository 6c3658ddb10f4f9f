"""Answers with everything that a request says about itself."""

import json

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


class TritonPythonModel:
    def execute(self, requests):
        return [text(*self.describe(request)) for request in requests]

    def describe(self, request):
        yield f"id {request.request_id()!r}"
        yield f"correlation {request.correlation_id()!r}"
        yield f"flags {request.flags()!r}"
        yield f"timeout {request.timeout()!r}"
        yield f"parameters {sorted(json.loads(request.parameters()).items())!r}"
        yield f"requested {sorted(request.requested_output_names())!r}"
        yield f"inputs {[tensor.name() for tensor in request.inputs()]!r}"
        yield f"cancelled {request.is_cancelled()!r}"
        yield f"context {request.trace().get_context()!r}"
        yield f"same input {request.inputs()[0] is request.inputs()[0]}"
        yield f"same sender {request.get_response_sender() is request.get_response_sender()}"
