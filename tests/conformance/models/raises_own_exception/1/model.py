"""execute raises exceptions of the model's own, with and without a message."""

import triton_python_backend_utils as pb_utils


class ModelError(Exception):
    pass


class TritonPythonModel:
    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "X").as_numpy()
        if x[0] == 0:
            raise ModelError
        if x[0] == 1:
            raise ModelError("first line\nsecond line")
        raise pb_utils.TritonModelException("raised by the model")
