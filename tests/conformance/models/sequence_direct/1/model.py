"""Sums up each sequence, with the control inputs that Triton adds."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.sums = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        inputs = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        key = int(inputs["CORRID"].reshape(-1)[0])
        if inputs["START"].reshape(-1)[0]:
            self.sums[key] = 0.0
        self.sums[key] += float(inputs["X"].reshape(-1)[0])
        shapes = [len(inputs[name].shape) for name in ("START", "END", "READY", "CORRID")]
        flags = [inputs[name].reshape(-1)[0] for name in ("START", "END", "READY")]
        y = np.array([self.sums[key], key, *flags, *shapes], np.float32)
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", y)])
