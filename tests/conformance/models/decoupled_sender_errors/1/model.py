"""What sends are refused; the second call tells what the first one saw."""

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
            refused = [
                attempt(lambda: sender.send()),
                attempt(lambda: sender.send(text("x"), 2)),
                attempt(lambda: sender.send("not a response")).splitlines()[0],
            ]
            sender.send(text(*self.seen), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            again = attempt(lambda: sender.send(text("too late")))
            final = attempt(lambda: sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL))
            self.seen = [*refused, again, final]
