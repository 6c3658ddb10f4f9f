"""While model.py is imported, pb_utils has no classes yet; c_python_backend_utils has."""

import c_python_backend_utils
import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


EARLY = [name for name in ("Tensor", "InferenceRequest", "Logger", "ModelConfig") if hasattr(pb_utils, name)]
EARLY_C = [name for name in ("Tensor", "InferenceResponseSender") if hasattr(c_python_backend_utils, name)]


class TritonPythonModel:
    def execute(self, requests):
        late = sorted(name for name in dir(pb_utils) if not name.startswith("_"))
        c_names = sorted(name for name in dir(c_python_backend_utils) if not name.startswith("_"))
        same = pb_utils.Tensor is c_python_backend_utils.Tensor
        c_names = [name for name in c_names if name not in {"SharedMemory", "shared_memory"}]
        return [text(EARLY, EARLY_C, late, c_names, same)]
