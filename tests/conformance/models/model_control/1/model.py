"""Loads and unloads another model, and asks whether it is ready."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


def attempt(call):
    try:
        return f"returned {call()!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    def execute(self, requests):
        return [
            text(
                attempt(lambda: pb_utils.load_model("relative_imports")),
                attempt(lambda: pb_utils.is_model_ready("relative_imports")),
                attempt(lambda: pb_utils.is_model_ready("relative_imports", "1")),
                attempt(lambda: pb_utils.is_model_ready("relative_imports", "2")),
                attempt(lambda: pb_utils.is_model_ready("relative_imports", "two")),
                attempt(lambda: pb_utils.is_model_ready("no_such_model")),
                attempt(lambda: pb_utils.unload_model("relative_imports")),
                attempt(lambda: pb_utils.unload_model("no_such_model")),
                attempt(lambda: pb_utils.load_model("no_such_model")),
                attempt(lambda: pb_utils.load_model("initialize_raises")).partition("At:")[0].strip().rstrip(";"),
                attempt(lambda: pb_utils.load_model("x", files={"file:1/model.py": 3})),
            )
        ]
