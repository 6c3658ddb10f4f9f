"""Every numeric type comes in with NumPy's type for it, and goes out again."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        outputs = []
        for tensor in requests[0].inputs():
            x = tensor.as_numpy()
            assert x.dtype == pb_utils.triton_string_to_numpy("TYPE_" + tensor.name()), x.dtype
            assert pb_utils.triton_to_numpy_type(pb_utils.numpy_to_triton_type(x.dtype)) == x.dtype
            outputs.append(pb_utils.Tensor("OUT_" + tensor.name(), x))
        return [pb_utils.InferenceResponse(outputs)]
