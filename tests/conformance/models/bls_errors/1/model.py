"""What comes back when a called model is unknown, refuses, fails or is decoupled."""

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


def failure(request, model, names=("Y",), **options):
    inputs = [pb_utils.get_input_tensor_by_name(request, "X")]
    call = pb_utils.InferenceRequest(model_name=model, inputs=inputs, requested_output_names=list(names), **options)
    response = call.exec()
    error = response.error()
    return f"{response.has_error()} {error.code().name} {error.message().partition('At:')[0].strip()}"


class TritonPythonModel:
    def execute(self, requests):
        request = requests[0]
        return [
            text(
                failure(request, "no_such_model"),
                failure(request, "add_one", model_version=7),
                failure(request, "add_one", names=["NOT"]),
                failure(request, "raises"),
                failure(request, "error_response"),
                failure(request, "decoupled_many"),
                failure(request, "sequence_direct"),
            )
        ]
