"""A folder for rings, for every test of the runtime."""

from pathlib import Path

import pytest

from tests.unit.runtime.fakes import Rings
from tritonscope.runtime import guard


@pytest.fixture
def rings(tmp_path: Path, monkeypatch):
    """The folder that rings go to, with a helper that reads everything recorded so far."""
    monkeypatch.setenv("TRITONSCOPE_DIR", str(tmp_path / "rings"))
    monkeypatch.delenv("TRITONSCOPE", raising=False)
    guard.counts.clear()
    return Rings(tmp_path / "rings")
