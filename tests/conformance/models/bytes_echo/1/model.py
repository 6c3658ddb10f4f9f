"""BYTES tensors come in as bytes objects, and go out from bytes, text, numbers and fixed-size strings."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        s = pb_utils.get_input_tensor_by_name(requests[0], "S").as_numpy()
        kinds = np.array([type(each).__name__ for each in s.reshape(-1)], dtype=object)
        mixed = np.array([b"\x00\xff", "na\u00efve", 7, None, 1.5], dtype=object)
        outputs = {"SAME": s, "KINDS": kinds, "MIXED": mixed, "FIXED": np.array([b"ab", b"c"])}
        return [pb_utils.InferenceResponse([pb_utils.Tensor(name, array) for name, array in outputs.items()])]
