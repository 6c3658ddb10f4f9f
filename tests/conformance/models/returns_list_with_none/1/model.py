"""Two requests, one response and one None: one client gets an answer, the other waits."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        small = [pb_utils.get_input_tensor_by_name(each, "X").as_numpy()[0, 0] < 2 for each in requests]
        return [answer(each) if keep else None for each, keep in zip(requests, small, strict=True)]
