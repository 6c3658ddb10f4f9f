"""label: the names of the most probable scenes, with their scores."""

from pathlib import Path

import numpy as np
import triton_python_backend_utils as pb_utils

TOP = 3


def most_probable(probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the probabilities of the TOP best of each row, best first."""
    classes = np.argsort(-probabilities, axis=1, kind="stable")[:, :TOP]
    return classes, np.take_along_axis(probabilities, classes, axis=1)


class TritonPythonModel:
    """Looks up names in labels.txt, one a line in the order of the classes."""

    def initialize(self, args: dict) -> None:
        path = Path(args["model_repository"], args["model_version"], "labels.txt")
        self.labels = np.array(path.read_text().split(), dtype=object)

    def execute(self, requests: list) -> list:
        return [self._respond(request) for request in requests]

    def _respond(self, request: "pb_utils.InferenceRequest") -> "pb_utils.InferenceResponse":
        rows = pb_utils.get_input_tensor_by_name(request, "PROBABILITIES").as_numpy()
        classes, scores = most_probable(rows)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("LABEL", self.labels[classes]), pb_utils.Tensor("SCORE", scores)]
        )
