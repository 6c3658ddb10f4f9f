"""Finds the example model repository: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

from tritonscope.errors import RepositoryError

PIPELINE = "image_pipeline"
"""The ensemble of the example: JPEG in, labels and scores out."""

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "model_repository", _PACKAGE.parents[1] / "model_repository")


def example_repository(places: tuple[Path, ...] = _PLACES) -> Path:
    """Return the folder of the example models, the first of `places` that holds them.

    Raises:
        RepositoryError: none does.
    """
    for place in places:
        if (place / PIPELINE / "config.pbtxt").is_file():
            return place
    looked = " or ".join(map(str, places))
    raise RepositoryError(
        f"the example models are not in {looked}: "
        "run from a checkout, or reinstall tritonscope (pip install --force-reinstall tritonscope)"
    )
