"""Calls add_one twice at once by async_exec, which starts before it is awaited."""

import asyncio

import triton_python_backend_utils as pb_utils


def ask(request, model, **options):
    inputs = [pb_utils.get_input_tensor_by_name(request, "X")]
    return pb_utils.InferenceRequest(model_name=model, inputs=inputs, requested_output_names=["Y"], **options)


def forward(response):
    if response.has_error():
        return pb_utils.InferenceResponse(error=response.error())
    y = pb_utils.get_output_tensor_by_name(response, "Y").as_numpy()
    return pb_utils.InferenceResponse([pb_utils.Tensor("Y", y * 10)])


class TritonPythonModel:
    async def execute(self, requests):
        futures = [ask(requests[0], "add_one").async_exec() for _ in range(2)]
        assert all(isinstance(future, asyncio.Future) for future in futures)
        first, _second = await asyncio.gather(*futures)
        return [forward(first)]
