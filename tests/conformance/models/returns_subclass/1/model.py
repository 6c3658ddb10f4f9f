"""A response of a class that inherits from InferenceResponse."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        class Mine(pb_utils.InferenceResponse):
            pass

        self.response = Mine

    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "X").as_numpy()
        return [self.response([pb_utils.Tensor("Y", x)])]
