"""What the constructors of the backend's classes refuse, with their texts."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


def attempt(call):
    try:
        return f"returned {call()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def first_line(call):
    return attempt(call).splitlines()[0]


class TritonPythonModel:
    def execute(self, requests):
        tensor, error = pb_utils.Tensor, pb_utils.TritonError
        request, response = pb_utils.InferenceRequest, pb_utils.InferenceResponse
        x = requests[0].inputs()[0]
        good = {"inputs": [x], "requested_output_names": ["Y"], "model_name": "m"}
        memory = pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU)
        calls = [
            lambda: tensor("", np.ones(1)),
            lambda: tensor("X", np.ones(1, np.complex64)),
            lambda: tensor("X", np.array(["text"])),
            lambda: error(5),
            lambda: error("m", 3),
            lambda: error("m", error.NOT_FOUND).code(),
            lambda: error(message="m").code(),
            lambda: response([None]),
            lambda: response((x,)).output_tensors()[0] is x,
            lambda: response([], None).has_error(),
            lambda: response(error=error("m")).error().message(),
            lambda: request(**{**good, "inputs": [None]}),
            lambda: request(**{**good, "requested_output_names": [""]}),
            lambda: request(**{**good, "correlation_id": 1.5}),
            lambda: request(**{**good, "correlation_id": -1}),
            lambda: request(**{**good, "correlation_id": True}).correlation_id(),
            lambda: request(**{**good, "parameters": {"a": 1.5}}),
            lambda: request(**{**good, "parameters": {1: 1}}),
            lambda: request(**{**good, "parameters": "a"}),
            lambda: request(**{**good, "parameters": {"a": 1, "b": True}}).parameters(),
            lambda: sorted(request(**{**good, "requested_output_names": ("b", "a")}).requested_output_names()),
            lambda: request(**good, preferred_memory=memory).trace().get_context(),
            lambda: request("id", 1, [x], ["Y"], "m").request_id(),
            lambda: request(**good).get_response_sender().send(response([])),
            lambda: request(**good).async_exec(),
            lambda: x.triton_dtype(),
            lambda: x.shape(),
            lambda: x.is_cpu(),
            lambda: x.__dlpack_device__(),
        ]
        refused = [
            lambda: tensor(),
            lambda: tensor("X", "text"),
            lambda: tensor("X", [1.0]),
            lambda: tensor(name="X", array=np.ones(1)),
            lambda: tensor(None, np.ones(1)),
            lambda: response(None),
            lambda: response(x),
            lambda: response([], "text"),
            lambda: response(parameters={}),
            lambda: request(),
            lambda: request(**{**good, "inputs": None}),
            lambda: request(**{**good, "model_name": None}),
            lambda: request(**{**good, "requested_output_names": "abc"}),
            lambda: request(**{**good, "requested_output_names": {"a"}}),
            lambda: request(**{**good, "correlation_id": None}),
            lambda: request(**{**good, "request_id": 5}),
            lambda: request(**{**good, "model_version": "1"}),
            lambda: request(**{**good, "flags": -1}),
            lambda: request(**{**good, "timeout": -1}),
            lambda: request(**{**good, "trace": None}),
            lambda: request(**{**good, "preferred_memory": 3}),
            lambda: request(**{**good, "other": 1}),
            lambda: pb_utils.PreferredMemory(0),
        ]
        return [text(*map(attempt, calls), *map(first_line, refused), attempt(lambda: error(5)))]
