"""A response is sent and another one returned."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        requests[0].get_response_sender().send(answer(requests[0]), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return [answer(requests[0])]
