"""The folder for what is downloaded once: where it is, one writer at a time, and pip as the one way in."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tritonscope.errors import ServerError, SettingError, UnsupportedHostError

TRITONSCOPE_CACHE = "TRITONSCOPE_CACHE"
"""Folder for the packaged server and the stubs' environments. Default: `$XDG_CACHE_HOME/tritonscope`, else
`~/.cache/tritonscope`."""

Progress = Callable[[str], None]
"""Is told, in one line, what long work begins."""

_NO_WHEEL = ("No matching distribution found", "is not a supported wheel")


def quiet(_line: str) -> None:
    """Report progress to nobody."""


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder that `environ` names; it need not exist yet."""
    if environ.get(TRITONSCOPE_CACHE):
        return Path(environ[TRITONSCOPE_CACHE]).absolute()
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "tritonscope").absolute()


@contextmanager
def locked(name: str, progress: Progress = quiet) -> Iterator[Path]:
    """Yield the cache folder, created if needed, while no other process holds the lock `name`.

    Raises:
        SettingError: the folder cannot be created or written.
    """
    folder = cache_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SettingError(
            f"the cache folder {folder} cannot be written ({error.strerror}): name another with {TRITONSCOPE_CACHE}"
        ) from None
    try:
        _wait_for(lock, name, progress)
        yield folder
    finally:
        os.close(lock)


def _wait_for(lock: int, name: str, progress: Progress) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        progress(f"another process is installing {name}: waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)


def pip_install(python: Path, words: Sequence[str]) -> None:
    """Run `python -m pip install` with `words`, honouring the user's pip configuration.

    Raises:
        UnsupportedHostError: there is no wheel for this machine.
        ServerError: pip failed for another reason; the message carries its last lines.
    """
    command = [str(python), "-I", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    wanted = " ".join(word for word in words if not word.startswith("-"))
    said = "\n".join(f"  {line}" for line in (done.stderr or done.stdout).strip().splitlines()[-6:])
    if any(sign in done.stderr for sign in _NO_WHEEL):
        raise UnsupportedHostError(f"no package for this machine ({wanted}), or no package index in reach:\n{said}")
    raise ServerError(f"pip could not install {wanted}; check the network, proxy and pip configuration:\n{said}")
