"""Iterates twice over the responses of a decoupled model."""

import numpy as np
import triton_python_backend_utils as pb_utils


def ask(request, model, **options):
    inputs = [pb_utils.get_input_tensor_by_name(request, "X")]
    return pb_utils.InferenceRequest(model_name=model, inputs=inputs, requested_output_names=["Y"], **options)


class TritonPythonModel:
    def execute(self, requests):
        responses = ask(requests[0], "decoupled_many").exec(decoupled=True)
        seen = [len(response.output_tensors()) for response in responses]
        again = [len(response.output_tensors()) for response in responses]
        y = np.array([*seen, -1, *again], np.float32)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", y)])]
