"""A way to write small models and serve them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from tests.unit.testing.small_models import ADD_ONE, CPU, INPUT, OUTPUT
from tritonscope.testing import InProcessServer

WriteModel = Callable[..., Path]


@pytest.fixture
def write_model(tmp_path: Path) -> WriteModel:
    """Write a Python model into the repository `tmp_path` and return its folder."""

    def write(name: str, code: str = ADD_ONE, config: str = INPUT + OUTPUT + CPU) -> Path:
        folder = tmp_path / name
        (folder / "1").mkdir(parents=True)
        backend = "" if "ensemble_scheduling" in config else 'backend: "python"\n'
        (folder / "config.pbtxt").write_text(backend + config)
        (folder / "1" / "model.py").write_text(dedent(code))
        return folder

    return write


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., InProcessServer]]:
    """Serve the repository `tmp_path` until the test ends."""
    with ExitStack() as running:
        yield lambda **options: running.enter_context(InProcessServer(tmp_path, **options))


@pytest.fixture
def x() -> dict[str, np.ndarray]:
    """Inputs for a model without batches."""
    return {"X": np.array([1, 2], np.float32)}
