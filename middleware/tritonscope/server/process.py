"""A tritonserver as a context manager: started on free ports, known to be ours and ready, and gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tritonscope.errors import ServerError, ServerStartError
from tritonscope.server.cache import Progress, quiet
from tritonscope.server.command import EXIT_TIMEOUT_S, HOST, Ports, ServerCommand, check_repository, server_command
from tritonscope.server.group import ProcessGroup
from tritonscope.server.listeners import free_ports
from tritonscope.server.readiness import ready_pid
from tritonscope.server.serverlog import failure_reasons, port_was_taken, read_log, tail

_ATTEMPTS = 3
_POLL_S = 0.05
_GRACE_S = EXIT_TIMEOUT_S + 5
_PREFIX_GRACE_S = 15  # what `tritonscope run` needs after the server has ended, to send what the stubs left
_TAIL_LINES = 10
_SHM = Path("/dev/shm")  # noqa: S108 - where the Python backend keeps its shared memory


class _Running(NamedTuple):
    group: ProcessGroup
    command: ServerCommand
    pid: int


class TritonServer:
    """The packaged tritonserver on `repository`, from `start()` to `stop()`, or inside a `with` block.

    Args:
        repository: The model repository.
        python: Version of the Python that stages run on ("3.11"); default as in `find_python`.
        extra_args: Further options of tritonserver.
        env: Variables added to our own environment.
        otlp_url: Where Triton itself sends spans (".../v1/traces"), of one request in `trace_rate`.
        trace_rate: See `otlp_url`.
        command_prefix: Words before the command, e.g. `(sys.executable, "-m", "tritonscope", "run", "--")`. Name
            the program by its full path: the server's PATH begins with the stubs' environment.
        log_path: File for the server's log. Default: a temporary one, kept only if the server failed.
        start_timeout_s: How long the server may take until its models are ready.
        ports: Default: three free ones.
        progress: Is told in one line what long work begins.
    """

    def __init__(
        self,
        repository: Path | str,
        *,
        python: str | None = None,
        extra_args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        otlp_url: str | None = None,
        trace_rate: int = 1,
        command_prefix: Sequence[str] = (),
        log_path: Path | str | None = None,
        start_timeout_s: float = 120,
        ports: Ports | None = None,
        progress: Progress = quiet,
    ) -> None:
        self.repository = Path(repository)
        self._command = partial(
            server_command, self.repository, python=python, extra_args=extra_args, env=env, otlp_url=otlp_url,
            trace_rate=trace_rate, progress=progress,
        )  # fmt: skip
        self._prefix = tuple(command_prefix)
        self._start_timeout_s = start_timeout_s
        self._ports = ports
        self._scratch: Path | None = None
        self._log_path = None if log_path is None else Path(log_path)
        self._running: _Running | None = None

    def __enter__(self) -> TritonServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def http_port(self) -> int:
        """Port of HTTP/REST."""
        return self._now().command.ports.http

    @property
    def grpc_port(self) -> int:
        """Port of gRPC."""
        return self._now().command.ports.grpc

    @property
    def metrics_port(self) -> int:
        """Port of the Prometheus metrics."""
        return self._now().command.ports.metrics

    @property
    def http_url(self) -> str:
        """HTTP address without a scheme, as tritonclient wants it ("127.0.0.1:8000")."""
        return f"{HOST}:{self.http_port}"

    @property
    def grpc_url(self) -> str:
        """The gRPC address ("127.0.0.1:8001")."""
        return f"{HOST}:{self.grpc_port}"

    @property
    def metrics_url(self) -> str:
        """The metrics' address with scheme and path."""
        return f"http://{HOST}:{self.metrics_port}/metrics"

    @property
    def pid(self) -> int:
        """The process that listens: tritonserver itself, also behind a `command_prefix`."""
        return self._now().pid

    @property
    def log_path(self) -> Path:
        """The server's log."""
        if self._log_path is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="tritonscope-server-"))
            self._log_path = self._scratch / "tritonserver.log"
        return self._log_path

    def log_tail(self, lines: int = _TAIL_LINES) -> str:
        """Return the last `lines` lines of the log."""
        return tail(self.log_path, lines)

    def start(self) -> None:
        """Start the server and return when its models are ready.

        Raises:
            RepositoryError: there is no such repository.
            ServerStartError: the server ended or did not become ready in time; says why.
            ServerError: it could not be installed here.
        """
        if self._running is not None:
            raise ServerError(f"the server on {self.repository} runs already (pid {self._running.pid})")
        check_repository(self.repository)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._running = self._launch(self._ports or free_ports())
                break
            except ServerStartError as error:
                # Between choosing a port and using it, another process may take it.
                if self._ports is not None or attempt == _ATTEMPTS or not port_was_taken(str(error)):
                    raise

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Wait until the server ends by itself and return its exit code, None after `timeout_s`."""
        return self._now().group.wait(timeout_s)

    def stop(self) -> None:
        """End the server and its stubs: first by asking, after about ten seconds by force."""
        if self._running is None:
            return
        group, command, _ = self._running
        ended_by_itself = group.poll() is not None
        self._running = None
        self._end(group, command)
        if self._scratch is not None and not ended_by_itself:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = self._log_path = None

    def _now(self) -> _Running:
        if self._running is None:
            raise ServerError(f"the server on {self.repository} is not running: call start(), or use it in 'with'")
        return self._running

    def _launch(self, ports: Ports) -> _Running:
        command = self._command(ports=ports)
        grace_s = _GRACE_S + (_PREFIX_GRACE_S if self._prefix else 0)
        group = ProcessGroup((*self._prefix, *command.words), command.environment, self.log_path, grace_s)
        try:
            return _Running(group, command, self._wait_until_ready(group, ports))
        except BaseException:
            self._end(group, command)
            raise

    def _end(self, group: ProcessGroup, command: ServerCommand) -> None:
        group.end()
        # A server that was killed leaves its shared memory behind; a clean one has removed it.
        for region in _SHM.glob(f"{command.shm_prefix}*"):
            region.unlink(missing_ok=True)

    def _wait_until_ready(self, group: ProcessGroup, ports: Ports) -> int:
        deadline = time.monotonic() + self._start_timeout_s
        while time.monotonic() < deadline:
            code = group.poll()
            if code is not None:
                raise ServerStartError(self._explain(f"tritonserver ended while starting (exit code {code})"))
            if (pid := ready_pid(group.pid, ports)) is not None:
                return pid
            time.sleep(_POLL_S)
        raise ServerStartError(self._explain(f"tritonserver was not ready after {self._start_timeout_s:g} s"))

    def _explain(self, what: str) -> str:
        reasons = [
            f"  {line}" for reason in failure_reasons(read_log(self.log_path)) for line in reason.splitlines()
        ]
        end = [f"  {line}" for line in self.log_tail().splitlines()]
        parts = [f"{what}, repository {self.repository}", *reasons, f"the end of its log {self.log_path}:", *end]
        return "\n".join(parts)
