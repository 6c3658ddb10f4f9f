"""finalize raises, which is only logged: the model unloads."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        return [answer(request) for request in requests]

    def finalize(self):
        raise ValueError("no such luck")
