"""The Python environment that stubs run in: a venv of its own in the cache, with the runtime half linked in.

The stubs of the packaged server miscompute tensor sizes with numpy 2 and newer, so models get an older numpy
than our own environment may hold; of ours, nothing but the tritonscope package itself is visible to them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tritonscope
from tritonscope.errors import ServerError
from tritonscope.server.cache import Progress, cache_directory, locked, pip_install, quiet
from tritonscope.server.pythons import Interpreter

REQUIREMENTS = ("numpy<2", "pillow", "msgspec>=0.19")
_STAMP = "tritonscope.json"


class StubEnvironment(NamedTuple):
    """A venv for stubs; its `bin` must come first on the server's PATH, its `lib` on LD_LIBRARY_PATH."""

    root: Path
    version: str

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.root / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages are."""
        return self.root / "lib" / f"python{self.version}" / "site-packages"

    @property
    def complete(self) -> bool:
        """Whether it was built to the end and its interpreter still exists."""
        return (self.root / _STAMP).exists() and self.python.exists()


def environment_for(interpreter: Interpreter, requirements: Sequence[str] = REQUIREMENTS) -> StubEnvironment:
    """Return the environment of `interpreter` with `requirements`, whether or not it has been built."""
    # The name says what is inside: another list is another environment, and servers in flight keep theirs.
    text = json.dumps(_contents(interpreter, requirements)).encode()
    name = f"python-{interpreter.version}-{hashlib.sha256(text).hexdigest()[:8]}"
    return StubEnvironment(cache_directory() / name, interpreter.version)


def ensure_environment(
    interpreter: Interpreter, requirements: Sequence[str] = REQUIREMENTS, progress: Progress = quiet
) -> StubEnvironment:
    """Return that environment, built if it is missing, with tritonscope's runtime half up to date in it.

    Raises:
        UnsupportedHostError: no wheels of a requirement for this machine.
        ServerError: venv or pip failed.
    """
    environment = environment_for(interpreter, requirements)
    with locked(environment.root.name, progress):
        if not environment.complete:
            progress(f"making an environment for stubs on Python {interpreter.full_version} (once)")
            _build(environment, interpreter, requirements)
        _share_runtime(environment.site_packages)
    return environment


def _contents(interpreter: Interpreter, requirements: Sequence[str]) -> dict[str, object]:
    return {
        "python": str(interpreter.executable),
        "version": interpreter.full_version,
        "requirements": sorted(requirements),
    }


def _build(environment: StubEnvironment, interpreter: Interpreter, requirements: Sequence[str]) -> None:
    shutil.rmtree(environment.root, ignore_errors=True)
    made = subprocess.run(
        [interpreter.executable, "-I", "-m", "venv", environment.root], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        said = (made.stdout + made.stderr).strip()
        raise ServerError(
            f"{interpreter.executable} could not make an environment (on Debian and Ubuntu: "
            f"'apt-get install python{interpreter.version}-venv'):\n{said}"
        )
    if requirements:
        pip_install(environment.python, requirements)
    if interpreter.libpython is not None:
        # Linked here, so that the server's library path holds libpython and nothing else of that folder.
        (environment.root / "lib" / interpreter.libpython.name).symlink_to(interpreter.libpython)
    (environment.root / _STAMP).write_text(json.dumps(_contents(interpreter, requirements), indent=1))


def _share_runtime(site_packages: Path) -> None:
    package = Path(tritonscope.__file__).resolve().parent
    link = site_packages / "tritonscope"
    if not (link.is_symlink() and link.readlink() == package):
        fresh = site_packages / ".tritonscope-new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(package)
        os.replace(fresh, link)  # noqa: PTH105 - named as what it is, an atomic exchange
    wake = (package / "runtime" / "tritonscope.pth").read_bytes()
    place = site_packages / "tritonscope.pth"
    if not place.exists() or place.read_bytes() != wake:
        fresh = site_packages / ".tritonscope-pth-new"
        fresh.write_bytes(wake)
        os.replace(fresh, place)  # noqa: PTH105 - as above
