"""Logs at every level; answers with what Logger refuses."""

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
        logger = pb_utils.Logger
        logger.log_info("one")
        logger.log_warn("two")
        logger.log_error("three")
        logger.log_verbose("four")
        logger.log("five")
        logger.log("six", logger.WARNING)
        logger.log(message="seven", level=logger.LogLevel.ERROR)
        return [
            text(attempt(lambda: logger.log("eight", 2)), attempt(lambda: logger.log_info(9)), repr(logger.INFO))
        ]
