"""The input Z may be left out; X may not."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
        z = pb_utils.get_input_tensor_by_name(request, "Z")
        y = x - 1 if z is None else x * z.as_numpy()
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", y)])
