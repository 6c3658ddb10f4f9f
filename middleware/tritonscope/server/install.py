"""The packaged tritonserver: fetched once as a wheel into the cache, run from there, with no Docker.

The wheel of NVIDIA's PyTriton carries a whole server with its Python backend and one stub for each Python.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tritonscope.errors import UnsupportedHostError
from tritonscope.server.cache import Progress, cache_directory, locked, pip_install, quiet
from tritonscope.server.pythons import available_pythons

WHEEL = "nvidia-pytriton==0.7.0"
VERSION = "2.51"
LEAST_GLIBC = (2, 35)
_WAY_OUT = "use a Triton container image and 'tritonscope run -- tritonserver ...' inside it"


class TritonInstall(NamedTuple):
    """Where the packaged server lies: its program, its own shared libraries, its Python backend."""

    root: Path
    executable: Path
    libs: Path
    backend: Path
    version: str = VERSION

    def stub(self, python_version: str) -> Path:
        """Return the stub program for Python `python_version` ("3.11")."""
        return self.backend.parents[1] / "python_backend_stubs" / python_version / "triton_python_backend_stub"


def check_host(system: str = sys.platform, machine: str | None = None, libc: tuple[str, str] | None = None) -> None:
    """Return if this machine (or the one described) can run the packaged server.

    Raises:
        UnsupportedHostError: it is not Linux on x86-64, or its C library is older than glibc 2.35.
    """
    machine = machine or platform.machine()
    if system != "linux" or machine not in {"x86_64", "AMD64"}:
        raise UnsupportedHostError(
            f"the packaged server needs Linux on x86-64, not {system} on {machine}: {_WAY_OUT}"
        )
    name, version = libc or platform.libc_ver()
    if name != "glibc" or tuple(int(part) for part in version.split(".")[:2]) < LEAST_GLIBC:
        raise UnsupportedHostError(
            f"the packaged server needs glibc 2.35 or newer (Debian 12, Ubuntu 22.04), this machine has "
            f"{name or 'another C library'} {version}".rstrip()
            + f": {_WAY_OUT}"
        )


def installed() -> TritonInstall | None:
    """Return the packaged server if it is in the cache."""
    root = cache_directory() / f"triton-{VERSION}"
    server = root / "pytriton" / "tritonserver"
    found = TritonInstall(
        root, server / "bin" / "tritonserver", root / "nvidia_pytriton.libs", server / "backends" / "python"
    )
    return found if found.executable.exists() else None


def ensure_installed(progress: Progress = quiet) -> TritonInstall:
    """Return the packaged server, downloading it (55 MB, 150 MB unpacked) if it is not in the cache.

    Raises:
        UnsupportedHostError: this machine cannot run it.
        ServerError: the download failed.
    """
    check_host()
    if found := installed():
        return found
    with locked("tritonserver", progress) as folder:
        if found := installed():
            return found
        progress(f"downloading tritonserver {VERSION} (55 MB, once) into {folder}")
        _download(folder)
    found = installed()
    if found is None:
        raise UnsupportedHostError(f"the package {WHEEL} holds no tritonserver for this machine: {_WAY_OUT}")
    return found


def _download(folder: Path) -> None:
    # Renamed into place when complete: a download that was cut off never counts as installed.
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as scratch:
        target = Path(scratch, "triton")
        pip_install(_python_with_pip(), ["--no-deps", "--target", str(target), WHEEL])
        place = folder / f"triton-{VERSION}"
        shutil.rmtree(place, ignore_errors=True)
        os.replace(target, place)  # noqa: PTH105 - named as what it is, an atomic exchange


def _python_with_pip() -> Path:
    if find_spec("pip") is not None:
        return Path(sys.executable)
    for interpreter in available_pythons():
        if interpreter.has_pip:
            return interpreter.executable
    raise UnsupportedHostError(
        "no Python with pip on this machine: run 'python3 -m ensurepip', or install python3-pip"
    )


def backend_directory(install: TritonInstall, python_version: str) -> Path:
    """Return a folder to give as `--backend-directory`, whose Python stages run on `python_version` ("3.11")."""
    with locked(f"backends-{python_version}") as folder:
        place = folder / f"backends-{VERSION}-{python_version}" / "python"
        place.mkdir(parents=True, exist_ok=True)
        for source in (*install.backend.iterdir(), install.stub(python_version)):
            _link(place / source.name, source)
    return place.parent


def _link(place: Path, target: Path) -> None:
    if place.is_symlink() and place.readlink() == target:
        return
    place.unlink(missing_ok=True)
    place.symlink_to(target)
