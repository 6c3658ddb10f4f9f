"""classify: probabilities of the scenes, for all requests of a batch at once."""

import os
from pathlib import Path

# Before numpy is loaded: products this small gain nothing from threads, which would take cores from other models.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import triton_python_backend_utils as pb_utils
from network import Weights, probabilities


class TritonPythonModel:
    """Runs the network of `weights.npz`, which `train.py` makes."""

    def initialize(self, args: dict) -> None:
        self.weights = Weights.load(Path(args["model_repository"], args["model_version"], "weights.npz"))

    def execute(self, requests: list) -> list:
        pixels = [pb_utils.get_input_tensor_by_name(request, "PIXELS").as_numpy() for request in requests]
        together = probabilities(np.concatenate(pixels), self.weights)
        parts = np.split(together, np.cumsum([len(part) for part in pixels])[:-1])
        return [pb_utils.InferenceResponse([pb_utils.Tensor("PROBABILITIES", part)]) for part in parts]
