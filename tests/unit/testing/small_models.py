"""The parts that small models of these tests are made of."""

INPUT = 'input [ { name: "X" data_type: TYPE_FP32 dims: [ -1 ] } ]\n'
OUTPUT = 'output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] } ]\n'
CPU = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
ADD_ONE = """
    import triton_python_backend_utils as pb_utils

    class TritonPythonModel:
        def execute(self, requests):
            return [self.answer(request) for request in requests]

        def answer(self, request):
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])
"""
