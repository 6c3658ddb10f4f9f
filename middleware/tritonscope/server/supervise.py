"""Runs a server with its stubs observed and an agent beside it.

The server comes first: whatever becomes of the agent, the server's exit code is the result.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tritonscope.errors import RingDirectoryError, UsageError
from tritonscope.server.watch import StubWatch
from tritonscope.settings import TRITONSCOPE, TRITONSCOPE_DIR

# The agent's last drain and export are bounded; this is a little more.
_AGENT_GRACE_S = 10
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Outcome(NamedTuple):
    """How the server ended, and what the agent counted (empty when there was none, or it died)."""

    exit_code: int
    summary: dict[str, Any]


def observed_environment(directory: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return `environ` with the stubs' import hook switched on and their rings in `directory`."""
    return {**environ, TRITONSCOPE: "1", TRITONSCOPE_DIR: str(directory)}


def supervise(command: Sequence[str], directory: Path, agent_options: Sequence[str] | None) -> Outcome:
    """Run `command` to its end and return its outcome; signals sent to us are passed on to it.

    `agent_options` are options of `tritonscope agent`; None runs no agent.

    Raises:
        UsageError: there is no such command.
        RingDirectoryError: `directory` cannot be created or written.
    """
    _check(command, directory)
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as scratch:
        summary = Path(scratch, "summary.json")
        agent = None if agent_options is None else _start_agent(directory, summary, agent_options)
        try:
            exit_code = _run(command, observed_environment(directory))
        finally:
            _stop(agent)
        return Outcome(exit_code, _read(summary))


def _check(command: Sequence[str], directory: Path) -> None:
    if not command:
        raise UsageError("no command given: tritonscope run -- tritonserver --model-repository=...")
    if shutil.which(command[0]) is None:
        raise UsageError(f"there is no command {command[0]!r} on PATH")
    require_writable(directory)


def require_writable(directory: Path) -> None:
    """Create `directory` if needed and try it.

    Raises:
        RingDirectoryError: it cannot be created or written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise RingDirectoryError(
            f"the folder for rings {directory} cannot be written ({error.strerror}): "
            f"make it writable, or name another with --dir or {TRITONSCOPE_DIR}"
        ) from None


def _start_agent(directory: Path, summary: Path, options: Sequence[str]) -> subprocess.Popen[bytes] | None:
    if find_spec("opentelemetry") is None:
        print("tritonscope: no agent here (pip install 'tritonscope[agent]'): spans are not sent", file=sys.stderr)
        return None
    words = [sys.executable, "-m", "tritonscope", "agent", "--dir", str(directory), "--summary-file", str(summary)]
    # A group of its own: Ctrl-C ends the server first, and the agent when there is nothing left to read.
    return subprocess.Popen([*words, *options], start_new_session=True)


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    with _forwarding() as start:
        server = start(command, environment)
        watch = StubWatch(server.pid)
        watch.start()
        code = server.wait()
        watch.stop()
    return code if code >= 0 else 128 - code


@contextmanager
def _forwarding() -> Iterator[Callable[[Sequence[str], dict[str, str]], subprocess.Popen[bytes]]]:
    """Yield what starts a server to which signals are passed on, those that come before it is there too."""
    servers: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        # A terminal has sent SIGINT to the server's group already; a second one would end it without grace.
        if number == signal.SIGINT and sys.stdin.isatty():
            return
        if not servers:
            early.append(number)
        for server in servers:
            server.send_signal(number)

    def start(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        servers.append(subprocess.Popen(command, env=environment))
        for number in early:
            servers[0].send_signal(number)
        return servers[0]

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        yield start
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(agent: subprocess.Popen[bytes] | None) -> None:
    if agent is None:
        return
    if agent.poll() is not None:
        print(f"tritonscope: the agent ended early (exit code {agent.returncode})", file=sys.stderr)
        return
    agent.terminate()
    try:
        agent.wait(_AGENT_GRACE_S)
    except subprocess.TimeoutExpired:
        agent.kill()
        agent.wait()


def _read(summary: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(summary.read_text())
    except (OSError, ValueError):
        return {}
    return values
