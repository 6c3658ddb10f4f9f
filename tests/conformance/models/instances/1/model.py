"""Two instances with modules of their own: each counts the objects that its module has made."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


MADE = []


class TritonPythonModel:
    def initialize(self, args):
        MADE.append(args["model_instance_name"])

    def execute(self, requests):
        return [text(len(MADE)) for _ in requests]
