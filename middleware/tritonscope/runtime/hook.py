"""The import hook: observes a model the moment its module has been imported, in files that nobody touched."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tritonscope.runtime.guard import report
from tritonscope.runtime.model import instrument

# Triton imports <version>/<file>.py as "<version>.<file>", and a python-based backend's as "model".
_MODEL_NAME = re.compile(r"\d+\.\w+|model")
_ENTRY = "TritonPythonModel"


class ModelFinder:
    """Stands first on `sys.meta_path`, lets the others find the module, and looks at it once it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders give, its loader prepared; None for names that are not models."""
        if not _MODEL_NAME.fullmatch(fullname):
            return None
        spec = _found_by_others(self, fullname, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            _observe_after(spec.loader)
        return spec


def install() -> None:
    """Put the hook first on `sys.meta_path`, once."""
    if not any(isinstance(finder, ModelFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, ModelFinder())


def _found_by_others(
    this: ModelFinder, fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find = None if finder is this else getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(fullname, path, target) if find else None
        if spec is not None:
            return spec
    return None


def _observe_after(loader: Any) -> None:
    """Let the loader do its work once and then look at the module; it stays the module's real loader."""
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        load(module)
        observe_module(module)

    loader.exec_module = exec_module


def observe_module(module: ModuleType) -> None:
    """Instrument the module's model, if it has one; never raises."""
    try:
        model = vars(module).get(_ENTRY)
        if model is not None:
            setattr(module, _ENTRY, instrument(model))
    except Exception as error:  # noqa: BLE001 - nothing of ours may reach the model
        report("hook", error)
