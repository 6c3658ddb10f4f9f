"""BLS is refused in initialize and finalize."""

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


class TritonPythonModel:
    def initialize(self, args):
        x = pb_utils.Tensor("X", np.ones(1, np.float32))
        request = pb_utils.InferenceRequest(model_name="add_one", inputs=[x], requested_output_names=["Y"])
        self.seen = attempt(request.exec)

    def execute(self, requests):
        return [text(self.seen)]
