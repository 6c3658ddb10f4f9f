"""Imports a model's file as its stub process does, though many models share this one process.

The real backend appends the version's folder and the model's folder to `sys.path` and imports `<version>.<file>`
in a process of its own. Here the modules of the model before are taken out of `sys.modules` first, so that
`1.model` and helpers of the same name in other folders do not meet.
"""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path
from types import ModuleType

_lock = threading.RLock()
_folders: list[str] = []


def import_model(file: Path) -> ModuleType:
    """Return `<version>/<name>.py`, imported anew, with `pb_utils` still incomplete as on the real server."""
    version_dir, model_dir = file.parent, file.parent.parent
    with _lock:
        _forget_imported()
        _enter(str(version_dir), str(model_dir))
        importlib.invalidate_caches()
        return importlib.import_module(f"{version_dir.name}.{file.stem}")


def leave() -> None:
    """Forget every model's modules and folders."""
    with _lock:
        _forget_imported()
        _exit()
        _folders.clear()


def _enter(*folders: str) -> None:
    _exit()
    # Folders of models loaded before stay, behind: a late import inside their functions still finds its file.
    _folders[:] = [*folders, *(folder for folder in _folders if folder not in folders)]
    sys.path.extend(_folders)


def _exit() -> None:
    sys.path[:] = [entry for entry in sys.path if entry not in _folders]


def _forget_imported() -> None:
    prefixes = tuple(folder + "/" for folder in _folders)
    for name, module in list(sys.modules.items()):
        # Looked up without getattr: some packages put objects there that import things when they are asked.
        known = getattr(module, "__dict__", {})
        origin = known.get("__file__") or next(iter(known.get("__path__") or ()), "")
        if prefixes and f"{origin}/".startswith(prefixes):
            del sys.modules[name]
