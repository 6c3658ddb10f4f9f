"""A decoupled model sends an error and then a good response."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError("one bad one")))
            sender.send(answer(request), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
