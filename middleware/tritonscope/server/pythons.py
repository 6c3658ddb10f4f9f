"""The Pythons of this machine, and which of them a stub can run on.

A stub embeds its Python: it needs the shared libpython of exactly that version, and an environment made by it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tritonscope.errors import UnsupportedHostError

SUPPORTED = ("3.10", "3.11", "3.12")
"""Versions that have both a stub in the packaged server and a numpy below 2, which that stub needs."""

_PROBE = """
import importlib.util, json, sys, sysconfig
has = lambda name: importlib.util.find_spec(name) is not None
print(json.dumps({
    "executable": getattr(sys, "_base_executable", sys.executable), "base": sys.base_prefix,
    "full_version": "%d.%d.%d" % sys.version_info[:3], "libdir": sysconfig.get_config_var("LIBDIR"),
    "multiarch": sysconfig.get_config_var("MULTIARCH"),
    "venv": has("venv") and has("ensurepip"), "pip": has("pip"),
}))
"""
_PROBE_TIMEOUT_S = 10
_SYSTEM_FOLDERS = (Path("/usr/local/bin"), Path("/usr/bin"))


class Interpreter(NamedTuple):
    """A Python that runs on this machine; `libpython` is its shared library, None where it has none."""

    executable: Path
    version: str
    full_version: str
    libpython: Path | None
    has_venv: bool
    has_pip: bool

    @property
    def problem(self) -> str:
        """What keeps stubs from running on it, with the fix; empty if nothing does."""
        name = f"Python {self.full_version} ({self.executable})"
        if self.version not in SUPPORTED:
            return f"{name} is not one of {', '.join(SUPPORTED)}, on which the packaged server can run models"
        if self.libpython is None:
            return (
                f"{name} has no libpython{self.version}.so.1.0: 'apt-get install libpython{self.version}', "
                f"or a Python built with --enable-shared ('uv python install {self.version}')"
            )
        if not self.has_venv:
            return f"{name} cannot make environments: 'apt-get install python{self.version}-venv'"
        return ""


def find_python(version: str | None = None, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """Return a Python of `version` ("3.11") that stubs can run on; None means our own version, else the newest.

    Raises:
        UnsupportedHostError: there is none; the message says what is missing and the fix.
    """
    if version is not None and version not in SUPPORTED:
        raise UnsupportedHostError(
            f"the packaged server cannot run models on Python {version}: it needs numpy below 2, which has wheels "
            f"only for {', '.join(SUPPORTED)}"
        )
    found = [one for one in available_pythons(environ) if one.version in ([version] if version else SUPPORTED)]
    for interpreter in sorted(found, key=_preference):
        if not interpreter.problem:
            return interpreter
    wanted = version or " or ".join(SUPPORTED)
    if found:
        raise UnsupportedHostError(f"no usable Python {wanted}: {'; '.join(one.problem for one in found)}")
    raise UnsupportedHostError(
        f"there is no Python {wanted} on this machine: install one, "
        f"for example with 'uv python install {version or SUPPORTED[-1]}'"
    )


def _preference(interpreter: Interpreter) -> tuple[bool, int]:
    own = interpreter.version == f"{sys.version_info[0]}.{sys.version_info[1]}"
    return (not own, -int(interpreter.version.split(".")[1]))


def available_pythons(environ: Mapping[str, str] = os.environ) -> list[Interpreter]:
    """Return every Python of a supported version that was found and runs, each once, usable or not."""
    found: dict[Path, Interpreter] = {}
    tried: set[Path] = set()
    for candidate in _candidates(environ):
        if candidate.resolve() in tried:
            continue
        tried.add(candidate.resolve())
        interpreter = probe(candidate)
        if interpreter is not None:
            found.setdefault(interpreter.executable.resolve(), interpreter)
    return list(found.values())


def probe(executable: Path) -> Interpreter | None:
    """Return what `executable` says of itself, or None if it does not run (pyenv's shims often do not)."""
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _PROBE], capture_output=True, text=True, check=True, timeout=_PROBE_TIMEOUT_S
        )
        said: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    version = said["full_version"].rpartition(".")[0]
    return Interpreter(
        executable=Path(said["executable"]), version=version, full_version=said["full_version"],
        libpython=_libpython(version, said), has_venv=said["venv"], has_pip=said["pip"],
    )  # fmt: skip


def _libpython(version: str, said: Mapping[str, Any]) -> Path | None:
    base, multiarch = Path(said["base"]), said["multiarch"] or "."
    folders = [Path(said["libdir"] or base / "lib"), base / "lib", base / "lib64", base / "lib" / multiarch]
    for folder in folders:
        # Only this Python's own folders: a libpython of another build would load the wrong standard library.
        library = folder / f"libpython{version}.so.1.0"
        if library.exists():
            return library
    return None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environ.get("HOME") or Path.home())
    pyenv = Path(environ.get("PYENV_ROOT") or home / ".pyenv")
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python")
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    folders += [*sorted(pyenv.glob("versions/*/bin"), reverse=True), *sorted(uv.glob("*/bin"), reverse=True)]
    folders += _SYSTEM_FOLDERS
    yield Path(sys.executable)
    for version in SUPPORTED:
        for folder in folders:
            candidate = folder / f"python{version}"
            if os.access(candidate, os.X_OK):
                yield candidate
