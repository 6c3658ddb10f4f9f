"""Answers with what initialize got, the repository's place left out."""

import json
from pathlib import Path

import numpy as np
import triton_python_backend_utils as pb_utils


def text(*lines):
    array = np.array([str(line) for line in lines], dtype=object)
    return pb_utils.InferenceResponse([pb_utils.Tensor("T", array)])


class TritonPythonModel:
    def initialize(self, args):
        self.types = sorted({type(value).__name__ for value in args.values()})
        self.args = dict(args)

    def execute(self, requests):
        config = self.args.pop("model_config", None)
        self.args["model_repository"] = Path(self.args["model_repository"]).name
        lines = [f"{name} {self.args[name]}" for name in sorted(self.args)]
        directory = pb_utils.get_model_dir()
        parts = Path(directory).parts[-2:]
        keys = (
            "name",
            "max_batch_size",
            "input",
            "output",
            "instance_group",
            "parameters",
            "default_model_filename",
        )
        kept = {key: json.loads(config)[key] for key in keys}
        return [text(*self.types, *lines, "/".join(parts), __name__, __package__, json.dumps(kept, sort_keys=True))]
