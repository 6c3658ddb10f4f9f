"""A response to a request that is to come back fails the batch."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        requests[0].set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
        return [answer(requests[0])]
