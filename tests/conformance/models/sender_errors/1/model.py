"""What sends are refused to a model that is not decoupled."""

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
        self.seen = []

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            early = attempt(lambda: sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL))
            sender.send(text(*self.seen))
            second = attempt(lambda: sender.send(text("second")))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            late = attempt(lambda: sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL))
            self.seen = [early, second, late]
