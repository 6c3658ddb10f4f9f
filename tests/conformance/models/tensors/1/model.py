"""Inputs are writable views, outputs are copied when they are sent, DLPack goes both ways."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        tensor = requests[0].inputs()[0]
        x = tensor.as_numpy()
        x += 1
        through = pb_utils.Tensor.from_dlpack("Z", tensor).as_numpy()
        capsule = pb_utils.Tensor.from_dlpack("Z", tensor.to_dlpack()).as_numpy()
        numpys = np.from_dlpack(tensor)
        turned = pb_utils.Tensor("Z", np.arange(4, dtype=np.float32).reshape(2, 2).T).as_numpy()
        facts = [x.flags.writeable, x.flags.owndata, tensor.as_numpy() is x, turned.flags.c_contiguous]
        parts = [through, capsule, numpys, turned.reshape(-1), np.array(facts, np.float32)]
        y = np.concatenate([part.astype(np.float32) for part in parts])
        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", y)])]
