"""The folder of the rings: what is in it, and that only one agent reads it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tritonscope.errors import RingDirectoryError
from tritonscope.ring.layout import SUFFIX, RingFormatError
from tritonscope.ring.reader import RingReader
from tritonscope.settings import TRITONSCOPE_DIR, log

LOCK = "agent.lock"
# A file this young may be a ring that its stub is still creating.
_YOUNG_S = 1.0


class FolderLock:
    """Held by the one agent that reads a folder; gone when its process is.

    Raises:
        RingDirectoryError: the folder cannot be created or written, or another agent reads it.
    """

    def __init__(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660)
        except OSError as error:
            raise RingDirectoryError(
                f"the folder for rings {directory} cannot be used ({error.strerror}): "
                f"make it writable, or name another with --dir or {TRITONSCOPE_DIR}"
            ) from None
        self._lock(directory)

    def release(self) -> None:
        """Let another agent read the folder."""
        os.close(self._fd)

    def _lock(self, directory: Path) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._fd, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._fd)
            raise RingDirectoryError(
                f"another agent (process {holder}) already reads {directory}: end it, or give --dir another folder"
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)


class RingFolder:
    """Finds the rings of a folder; each is opened once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: set[str] = set()

    def discover(self) -> Iterator[RingReader]:
        """Open the rings that are new in the folder. A file that is no ring of ours is skipped, with one log line.

        Raises:
            RingDirectoryError: the folder cannot be read.
        """
        names = self._names()
        self._known &= names
        for name in sorted(names - self._known):
            reader = self._open(self._directory / name)
            if reader is not None:
                self._known.add(name)
                yield reader

    def skip(self, path: Path, reason: str) -> None:
        """Never open `path` again; the file stays."""
        self._known.add(path.name)
        log.warning("skipping %s: %s", path, reason)

    def _names(self) -> set[str]:
        try:
            with os.scandir(self._directory) as entries:
                return {entry.name for entry in entries if entry.name.endswith(SUFFIX)}
        except OSError as error:
            raise RingDirectoryError(
                f"the folder for rings {self._directory} cannot be read ({error.strerror})"
            ) from None

    def _open(self, path: Path) -> RingReader | None:
        try:
            return RingReader(path)
        except FileNotFoundError:
            return None
        except RingFormatError as error:
            if _age_s(path) > _YOUNG_S:
                self.skip(path, str(error))
        except OSError as error:
            self.skip(path, str(error))
        return None


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
