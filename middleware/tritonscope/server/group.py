"""A process group that ends as a whole: when asked to, and also when the process that started it dies."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tritonscope.errors import ServerStartError
from tritonscope.server.listeners import family, is_running

# Waits for a line or the end of its input. The end without a line means that our process died, however it died.
# PR_SET_PDEATHSIG would be shorter, but fires when the *thread* that started the server ends, and misses the stubs.
_LEASH = 'read -r _ && exit; kill -s TERM "$1"; sleep "$2"; kill -s KILL -- "-$1"'


class ProcessGroup:
    """A command running in a session of its own, on a leash; its output goes into a file."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log_path: Path, grace_s: int) -> None:
        self._grace_s = grace_s
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("wb") as log, _explained(words):
            self._process = subprocess.Popen(
                words, env=dict(environment), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        self._leash = subprocess.Popen(
            ["/bin/sh", "-c", _LEASH, "leash", str(self.pid), str(grace_s)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """The first process of the group."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, None while the first process runs."""
        return self._process.poll()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Wait for the first process and return its exit code, None if it still runs after `timeout_s`."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Ask the first process to end; after the grace period kill what is left of it and its descendants."""
        members = family(self.pid)
        if self.poll() is None:
            self._process.terminate()
        self.wait(self._grace_s)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        for pid, started in members.items():
            # Some leave the group: an agent that a wrapper of the server started, for example.
            if is_running(pid, started):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._release_leash()

    def _release_leash(self) -> None:
        with suppress(BrokenPipeError):
            self._leash.communicate(b"\n")


@contextmanager
def _explained(words: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ServerStartError(f"{words[0]} cannot be started: {error.strerror}") from None
