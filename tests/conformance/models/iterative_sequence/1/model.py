"""A request comes back to execute until its counter is zero, then it is answered."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


class TritonPythonModel:
    def initialize(self, args):
        self.left = None
        self.seen = []

    def execute(self, requests):
        (request,) = requests
        if self.left is None:
            self.left = int(pb_utils.get_input_tensor_by_name(request, "X").as_numpy()[0])
        self.seen.append(f"flags {request.flags()} correlation {request.correlation_id() != 0}")
        if self.left:
            self.left -= 1
            request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            return [None]
        lines, self.left, self.seen = self.seen, None, []
        return [text(*lines)]
