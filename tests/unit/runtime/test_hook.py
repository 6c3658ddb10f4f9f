"""The import hook finds a model where Triton imports it, and leaves every other import alone."""

import importlib
import sys
from importlib.machinery import SourceFileLoader

import pytest

from tests.unit.runtime.fakes import ARGS, Request
from tritonscope.runtime.hook import ModelFinder, install
from tritonscope.runtime.model import is_instrumented

MODEL = """
from . import helper
class TritonPythonModel:
    def initialize(self, args): pass
    def execute(self, requests): return [helper.ANSWER for _ in requests]
"""


@pytest.fixture
def model_folder(tmp_path, monkeypatch):
    """A model's folder on sys.path, as the stub puts it there, and the hook installed for one test."""
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "model.py").write_text(MODEL)
    (tmp_path / "1" / "helper.py").write_text("ANSWER = 42")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    install()
    yield tmp_path
    for name in [name for name in sys.modules if name == "1" or name.startswith("1.")]:
        del sys.modules[name]


def test_a_model_is_observed_as_triton_imports_it(model_folder, rings):
    module = importlib.import_module("1.model")
    assert is_instrumented(module.TritonPythonModel)
    model = module.TritonPythonModel()
    model.initialize(ARGS)
    assert model.execute([Request()]) == [42]
    assert len(rings.batches()) == 1


def test_the_module_keeps_its_real_loader(model_folder):
    module = importlib.import_module("1.model")
    assert type(module.__loader__) is SourceFileLoader
    assert "exec_module" not in vars(module.__loader__)
    assert module.__spec__.origin == str(model_folder / "1" / "model.py")


def test_other_modules_are_not_looked_at(model_folder):
    (model_folder / "plain.py").write_text("class TritonPythonModel:\n    def execute(self, requests): return []\n")
    module = importlib.import_module("plain")
    del sys.modules["plain"]
    assert not is_instrumented(module.TritonPythonModel)


def test_an_error_of_the_models_own_passes(model_folder):
    (model_folder / "1" / "model.py").write_text("raise RuntimeError('no weights')")
    with pytest.raises(RuntimeError, match="no weights"):
        importlib.import_module("1.model")


def test_a_missing_model_is_still_missing(model_folder):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("1.nowhere")


def test_installing_twice_installs_once(model_folder):
    install()
    assert sum(isinstance(finder, ModelFinder) for finder in sys.meta_path) == 1
