"""The example in docs/testing.md works as it stands there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope.testing.pytest_plugin import triton_model, triton_server

__all__ = ["triton_model", "triton_server"]

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


def code_blocks() -> list[str]:
    """Return the page's first code blocks: the model, its configuration and its tests."""
    return re.findall(r"```(?:python)?\n(.*?)```", PAGE.read_text(), re.DOTALL)[:3]


@pytest.mark.parametrize("name", re.findall(r"^def (test_\w+)", code_blocks()[2], re.MULTILINE))
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, triton_model: Callable) -> None:
    model, config, tests = code_blocks()
    folder = tmp_path / "model_repository" / "upper"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.py").write_text(model)
    (folder / "config.pbtxt").write_text(config)
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    exec(compile(tests, str(PAGE), "exec"), namespace)  # noqa: S102 - the example is what is tested

    namespace[name](triton_model)
