"""A called model sees the id, parameters, flags, timeout and correlation id that the caller set."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "X")
        call = pb_utils.InferenceRequest(
            request_id="called",
            correlation_id=7,
            inputs=[x],
            requested_output_names=["T"],
            model_name="request_fields",
            flags=pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
            timeout=5000000,
            parameters={"text": "a", "number": 1, "flag": True},
            trace=requests[0].trace(),
        )
        response = call.exec()
        return [pb_utils.InferenceResponse(response.output_tensors(), response.error())]
