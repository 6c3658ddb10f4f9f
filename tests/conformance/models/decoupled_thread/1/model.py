"""A thread sends the responses after execute has returned."""

import threading

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            arguments = (request.get_response_sender(), answer(request), answer(request))
            threading.Thread(target=self.send, args=arguments).start()

    def send(self, sender, first, second):
        sender.send(first)
        sender.send(second)
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
