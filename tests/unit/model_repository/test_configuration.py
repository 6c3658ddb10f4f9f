"""The example repository is one that Triton accepts, and its parts fit each other."""

from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from tritonclient.grpc.model_config_pb2 import ModelConfig

REPOSITORY = Path(__file__).parents[3] / "model_repository"
MODELS = ("classify", "decode", "image_pipeline", "label")


def config(model: str) -> ModelConfig:
    return text_format.Parse((REPOSITORY / model / "config.pbtxt").read_text(), ModelConfig())


def signature(tensors) -> dict[str, tuple[int, tuple[int, ...]]]:
    return {tensor.name: (tensor.data_type, tuple(tensor.dims)) for tensor in tensors}


def test_every_folder_is_a_model():
    """Triton ends at start for a folder that is none, `__pycache__` for one: no code may lie beside the models."""
    assert tuple(sorted(path.name for path in REPOSITORY.iterdir() if path.is_dir())) == MODELS
    assert not list(REPOSITORY.glob("*.py"))


@pytest.mark.parametrize("model", MODELS)
def test_each_model_has_its_name_and_a_version(model):
    assert config(model).name == model
    assert (REPOSITORY / model / "1").is_dir()


def test_the_steps_hand_tensors_of_one_shape_to_each_other():
    pipeline = config("image_pipeline")
    known = signature(pipeline.input)
    for step in pipeline.ensemble_scheduling.step:
        member = config(step.model_name)
        takes, gives = signature(member.input), signature(member.output)
        assert {name: known[tensor] for name, tensor in step.input_map.items()} == takes
        known |= {tensor: gives[name] for name, tensor in step.output_map.items()}
        assert pipeline.max_batch_size <= member.max_batch_size
    assert signature(pipeline.output).items() <= known.items()


def test_labels_weights_and_configuration_agree_on_the_number_of_classes():
    labels = (REPOSITORY / "label" / "1" / "labels.txt").read_text().split()
    with np.load(REPOSITORY / "classify" / "1" / "weights.npz") as weights:
        assert weights["head"].shape[1] == len(weights["bias"]) == len(labels)
    assert list(config("classify").output[0].dims) == [len(labels)]
