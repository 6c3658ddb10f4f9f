"""The model makes two outputs and one more that is not in its configuration; the client asks for one."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "X").as_numpy()
        return [pb_utils.InferenceResponse([pb_utils.Tensor(name, x) for name in ("A", "B", "UNKNOWN")])]
