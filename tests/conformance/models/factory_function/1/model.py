"""TritonPythonModel is a function that returns an object."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class Model:
    def __init__(self, name):
        self.name = name

    def execute(self, requests):
        return [answer(request) for request in requests]


def TritonPythonModel():
    return Model("made")
