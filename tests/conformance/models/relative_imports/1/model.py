"""The model's file imports its neighbours as parts of its package."""

import triton_python_backend_utils as pb_utils

from . import shift
from .shift import AMOUNT


class TritonPythonModel:
    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "X").as_numpy()
        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", shift.shift(x) + AMOUNT)])]
