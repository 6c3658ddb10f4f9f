"""The fixtures that tritonscope gives to pytest, and the example of the documentation."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from tritonscope.testing.pytest_plugin import triton_model, triton_server

__all__ = ["triton_model", "triton_server"]

REPOSITORY = Path(__file__).parents[3] / "model_repository"


def jpeg(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (80, 60), colour).save(buffer, "JPEG")
    return buffer.getvalue()


def test_a_single_model_is_called(triton_model) -> None:
    decode = triton_model(REPOSITORY / "decode")

    result = decode.infer({"IMAGE": np.array([[jpeg("red")]], dtype=object)})

    assert not result.error
    assert result.outputs["PIXELS"].shape == (1, 3, 64, 64)


def test_the_users_object_is_within_reach(triton_model) -> None:
    assert type(triton_model(REPOSITORY / "decode").instance).__name__ == "TritonPythonModel"


def test_a_request_can_be_started_and_awaited(triton_model) -> None:
    pending = triton_model(REPOSITORY / "decode").start({"IMAGE": np.array([[b"no picture"]], dtype=object)})

    result = pending.result()

    assert (result.error, result.code) == ("IMAGE is not a JPEG file", "INVALID_ARG")


def test_the_example_pipeline_runs_from_picture_to_labels(triton_server) -> None:
    server = triton_server(REPOSITORY)

    result = server.infer("image_pipeline", {"IMAGE": np.array([[jpeg("red")], [jpeg("blue")]], dtype=object)})

    assert not result.error
    assert result.outputs["LABEL"].shape == (2, 3)
    scores = result.outputs["SCORE"]
    assert (np.diff(scores, axis=1) <= 0).all()
