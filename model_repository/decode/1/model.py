"""decode: JPEG files to normalised pixels, one after the other on one core."""

import numpy as np
import triton_python_backend_utils as pb_utils
from PIL import UnidentifiedImageError
from pixels import decode_jpeg


class TritonPythonModel:
    """Decodes and shrinks every picture of every request."""

    def execute(self, requests: list) -> list:
        return [self._respond(request) for request in requests]

    @staticmethod
    def _respond(request: "pb_utils.InferenceRequest") -> "pb_utils.InferenceResponse":
        files = pb_utils.get_input_tensor_by_name(request, "IMAGE").as_numpy().reshape(-1)
        try:
            pixels = np.stack([decode_jpeg(file) for file in files])
        except UnidentifiedImageError:
            return _failed("IMAGE is not a JPEG file")
        except OSError as error:
            return _failed(f"IMAGE is a damaged JPEG file: {error}")
        return pb_utils.InferenceResponse([pb_utils.Tensor("PIXELS", pixels)])


def _failed(reason: str) -> "pb_utils.InferenceResponse":
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(reason, pb_utils.TritonError.INVALID_ARG))
