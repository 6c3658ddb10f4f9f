"""Awaits the iterator over the responses of a decoupled model."""

import numpy as np
import triton_python_backend_utils as pb_utils


def ask(request, model, **options):
    inputs = [pb_utils.get_input_tensor_by_name(request, "X")]
    return pb_utils.InferenceRequest(model_name=model, inputs=inputs, requested_output_names=["Y"], **options)


class TritonPythonModel:
    async def execute(self, requests):
        responses = await ask(requests[0], "decoupled_many").async_exec(decoupled=True)
        values = [each.output_tensors()[0].as_numpy()[0] for each in responses if each.output_tensors()]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", np.array(values, np.float32))])]
