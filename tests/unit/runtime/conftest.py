"""A folder for rings, and observed copies of the conformance models, for every test of the runtime."""

from pathlib import Path

import pytest

from tests.conformance.cases import MODELS
from tests.unit.runtime.fakes import Rings
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay
from tritonscope.runtime import guard


@pytest.fixture(scope="session")
def overlay(tmp_path_factory):
    """An overlay of the conformance models."""
    folder = tmp_path_factory.mktemp("overlay") / "observed"
    entries = {name: stage.entry for name, stage in read_repository(MODELS).stages.items() if stage.is_python}
    write_overlay(MODELS, folder, entries)
    return folder


@pytest.fixture
def rings(tmp_path: Path, monkeypatch):
    """The folder that rings go to, with a helper that reads everything recorded so far."""
    monkeypatch.setenv("TRITONSCOPE_DIR", str(tmp_path / "rings"))
    monkeypatch.delenv("TRITONSCOPE", raising=False)
    guard.counts.clear()
    return Rings(tmp_path / "rings")
