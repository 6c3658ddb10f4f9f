"""Responses with an error of every code, and one with tensors and an error."""

import triton_python_backend_utils as pb_utils

CODES = [
    "UNKNOWN",
    "INTERNAL",
    "NOT_FOUND",
    "INVALID_ARG",
    "UNAVAILABLE",
    "UNSUPPORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
]


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
        at = int(x[0])
        if at < len(CODES):
            return pb_utils.InferenceResponse(
                error=pb_utils.TritonError(f"this is {CODES[at]}", getattr(pb_utils.TritonError, CODES[at]))
            )
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x)], pb_utils.TritonError("no code"))
