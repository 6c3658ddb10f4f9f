"""execute is a plain function that returns a coroutine."""

import triton_python_backend_utils as pb_utils


def answer(request):
    x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])


class TritonPythonModel:
    def execute(self, requests):
        return self.run(requests)

    async def run(self, requests):
        return [answer(request) for request in requests]
