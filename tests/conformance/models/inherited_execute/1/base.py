import triton_python_backend_utils as pb_utils


class Root:
    def execute(self, requests):
        return [self.answer(request) for request in requests]


class Base(Root):
    def initialize(self, args):
        self.step = 1

    def execute(self, requests):
        return super().execute(requests)

    def answer(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + self.step)])
