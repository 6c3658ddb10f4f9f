"""Reads a Python model's entry file, and the modules beside it that it imports, into what is known of its code."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

from tritonscope.errors import RepositoryError
from tritonscope.repository.code.execute import code_of
from tritonscope.repository.code.facts import Code
from tritonscope.repository.code.program import File, Program

_MOST_FILES = 50
_MOST_BYTES = 2_000_000


def read_code(entry: Path) -> Code:
    """Return what the syntax tree of the model whose entry file is `entry`, as in `models/ocr/1/model.py`, tells.

    Modules in the folders of the version and of the model are a part of it, as the Python backend has both on its
    path; one of them that cannot be read is left out.

    Raises:
        RepositoryError: `entry` cannot be read, or is not Python as this interpreter knows it.
    """
    files = [File(entry.name, _parse(entry))]
    folders = (entry.parent, entry.parent.parent)
    known, waiting = {entry}, [files[0].tree]
    while waiting and len(files) < _MOST_FILES:
        for path in _beside(waiting.pop(), folders):
            if path not in known:
                known.add(path)
                files += _parsed_or_left_out(path, waiting)
    try:
        return code_of(Program(files), entry)
    except RecursionError:
        raise RepositoryError(f"{entry}: its expressions are nested too deeply to be read") from None


def _parse(path: Path) -> ast.Module:
    try:
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            raise RepositoryError(f"{path} has {len(data)} bytes: too many to be read as a model's code")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's escape sequences
            return ast.parse(data, path.name)
    except OSError as error:
        raise RepositoryError(f"{path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        where = f"{path}:{error.lineno or 1}:{error.offset or 1}"
        raise RepositoryError(f"{where}: this is not Python {version}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise RepositoryError(f"{path}: this is not Python: {str(error) or type(error).__name__}") from None


def _parsed_or_left_out(path: Path, waiting: list[ast.Module]) -> list[File]:
    try:
        tree = _parse(path)
    except RepositoryError:
        return []
    waiting.append(tree)
    return [File(path.name, tree)]


def _beside(tree: ast.Module, folders: tuple[Path, ...]) -> list[Path]:
    """Return the files in `folders` that a module imports."""
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(dict.fromkeys(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names.update(dict.fromkeys([module, *(f"{module}.{alias.name}".strip(".") for alias in node.names)]))
    found = []
    for name in filter(None, names):
        relative = Path(*name.split("."))
        places = [
            folder / file for folder in folders for file in (relative.with_suffix(".py"), relative / "__init__.py")
        ]
        found += [place for place in places if place.is_file()][:1]
    return found
