"""The stubs of a running server, and which of them cannot be observed because their Python lacks tritonscope."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_STUB = "triton_python_backend_stub"
_MODEL_PATH = 1  # of a stub's command line: MODEL/VERSION/model.py
_ASK = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tritonscope') is None)"
_ASK_TIMEOUT_S = 10


class Stub(NamedTuple):
    """One process of a Python model; `python` is the interpreter whose packages it has, None where unknown."""

    pid: int
    model: str
    python: Path | None


def stubs_of(server_pid: int, proc: Path = _PROC) -> list[Stub]:
    """Return the stubs among the descendants of a process. One that ends meanwhile is left out."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents(proc):
        children.setdefault(parent, []).append(pid)
    found, rest = [], [server_pid]
    while rest:
        below = children.get(rest.pop(), [])
        rest += below
        found += [stub for pid in below if (stub := _stub(proc / str(pid))) is not None]
    return found


def lacks_tritonscope(python: Path) -> bool:
    """Whether `python` runs and does not find tritonscope; asked as isolated as stubs are."""
    try:
        asked = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, check=False, timeout=_ASK_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 1


def _parents(proc: Path) -> Iterator[tuple[int, int]]:
    for folder in proc.iterdir():
        if folder.name.isdecimal():
            try:
                # The program's name, in parentheses, may hold anything; the parent is the second word after it.
                words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            yield int(folder.name), int(words[1])


def _stub(folder: Path) -> Stub | None:
    try:
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    if not words[0].endswith(_STUB) or len(words) <= _MODEL_PATH:
        return None
    variables = dict(pair.partition("=")[::2] for pair in environment)
    return Stub(int(folder.name), Path(words[_MODEL_PATH]).parent.parent.name, _python(variables))


def _python(variables: Mapping[str, str]) -> Path | None:
    """Return the first `python3` on a PATH: by it an embedded interpreter finds its packages."""
    folders = [Path(folder) for folder in variables.get("PATH", "").split(os.pathsep) if folder]
    return next((folder / "python3" for folder in folders if (folder / "python3").exists()), None)
