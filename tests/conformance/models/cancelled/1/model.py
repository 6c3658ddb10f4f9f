"""Waits until the client has cancelled the request and tells the next request about it."""

import threading

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


class TritonPythonModel:
    def initialize(self, args):
        self.seen = threading.Event()

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            if pb_utils.get_input_tensor_by_name(request, "X").as_numpy()[0] == 0:
                threading.Thread(target=self.wait, args=(sender,)).start()
            else:
                sender.send(text(self.seen.wait(20)), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def wait(self, sender):
        sender.send(text("waiting"))
        while not sender.is_cancelled():
            self.seen.wait(0.01)
        error = pb_utils.TritonError("given up", pb_utils.TritonError.CANCELLED)
        sender.send(pb_utils.InferenceResponse(error=error), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        self.seen.set()
