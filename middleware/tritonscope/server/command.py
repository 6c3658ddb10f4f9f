"""The command line and the environment that start the packaged tritonserver on a repository."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tritonscope.errors import RepositoryError
from tritonscope.server.cache import Progress, quiet
from tritonscope.server.environment import StubEnvironment, ensure_environment
from tritonscope.server.install import TritonInstall, backend_directory, ensure_installed
from tritonscope.server.pythons import find_python

HOST = "127.0.0.1"
EXIT_TIMEOUT_S = 5
# Anchored: newer servers refuse requests in which a forwarded header meets a reserved name.
_FORWARDED_HEADERS = "^(traceparent|tracestate|baggage)$"


class Ports(NamedTuple):
    """The three ports of a server."""

    http: int
    grpc: int
    metrics: int


class ServerCommand(NamedTuple):
    """What to run, in which environment, and where the server will listen (on 127.0.0.1)."""

    words: tuple[str, ...]
    environment: dict[str, str]
    ports: Ports
    shm_prefix: str


def server_command(
    repository: Path,
    ports: Ports,
    *,
    python: str | None = None,
    extra_args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    otlp_url: str | None = None,
    trace_rate: int = 1,
    progress: Progress = quiet,
) -> ServerCommand:
    """Return how to start the packaged server on `repository`; installs what is missing.

    `python` is the version that stages run on ("3.11"). `env` is added to our own environment. With `otlp_url`
    (".../v1/traces") Triton itself sends spans there, of one request in `trace_rate`.

    Raises:
        RepositoryError: `repository` is no folder with models.
        UnsupportedHostError: this machine, or this Python, cannot run the packaged server.
        ServerError: a download failed.
    """
    check_repository(repository)
    install = ensure_installed(progress)
    environment = ensure_environment(find_python(python), progress=progress)
    shm_prefix = f"triton_python_{os.getpid()}_{ports.http}_"
    words = [
        str(install.executable), f"--model-repository={repository.absolute()}",
        f"--backend-directory={backend_directory(install, environment.version)}",
        f"--backend-config=python,shm-region-prefix-name={shm_prefix}",
        *_listening(ports), f"--exit-timeout-secs={EXIT_TIMEOUT_S}", *_tracing(otlp_url, trace_rate), *extra_args,
    ]  # fmt: skip
    return ServerCommand(tuple(words), _environment(install, environment, env or {}), ports, shm_prefix)


def check_repository(repository: Path) -> None:
    """Return if `repository` is a folder that holds at least one folder.

    Raises:
        RepositoryError: it is not.
    """
    if not repository.is_dir():
        raise RepositoryError(f"there is no model repository {repository}: give the folder that holds the models")
    if not any(entry.is_dir() for entry in repository.iterdir()):
        raise RepositoryError(
            f"the model repository {repository} holds no model: it needs one folder for each model"
        )


def _listening(ports: Ports) -> list[str]:
    # Without the last two a second server would share our ports in silence, and answer half of our requests.
    return [
        f"--http-address={HOST}", f"--http-port={ports.http}",
        f"--grpc-address={HOST}", f"--grpc-port={ports.grpc}",
        f"--metrics-address={HOST}", f"--metrics-port={ports.metrics}",
        "--reuse-http-port=0", "--reuse-grpc-port=0",
        f"--http-header-forward-pattern={_FORWARDED_HEADERS}",
        f"--grpc-header-forward-pattern={_FORWARDED_HEADERS}",
    ]  # fmt: skip


def _tracing(otlp_url: str | None, rate: int) -> list[str]:
    if otlp_url is None:
        return []
    settings = ("mode=opentelemetry", "level=TIMESTAMPS", f"rate={rate}", f"opentelemetry,url={otlp_url}")
    return [f"--trace-config={setting}" for setting in settings]


def _environment(install: TritonInstall, stubs: StubEnvironment, added: Mapping[str, str]) -> dict[str, str]:
    merged = {**os.environ, **added}
    # The stub's embedded Python takes the first python on PATH for its own, and so this venv for its prefix.
    merged["PATH"] = _joined(stubs.root / "bin", merged.get("PATH"))
    merged["LD_LIBRARY_PATH"] = _joined(install.libs, stubs.root / "lib", merged.get("LD_LIBRARY_PATH"))
    merged.pop("PYTHONHOME", None)
    return merged


def _joined(*parts: Path | str | None) -> str:
    return os.pathsep.join(str(part) for part in parts if part)
