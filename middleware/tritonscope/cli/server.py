"""Run a real tritonserver on this machine, without Docker.

The server (2.51, with its Python backend) is downloaded once, 55 MB, into a cache folder (TRITONSCOPE_CACHE).
Python stages run on Python 3.10, 3.11 or 3.12, each in an environment of its own with numpy, pillow and msgspec.

Examples:
  tritonscope server check
  tritonscope server install --python 3.11
  tritonscope server start model_repository
  tritonscope server start model_repository --http-port 8000 --grpc-port 8001 -- --log-verbose=1
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from tritonscope.errors import ServerStartError, UnsupportedHostError
from tritonscope.server.cache import cache_directory
from tritonscope.server.command import Ports
from tritonscope.server.environment import ensure_environment, environment_for
from tritonscope.server.install import VERSION, check_host, ensure_installed, installed
from tritonscope.server.listeners import free_ports
from tritonscope.server.process import TritonServer
from tritonscope.server.pythons import SUPPORTED, Interpreter, available_pythons, find_python

_OK, _MISSING = "ok      ", "missing "


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="install|check|start")
    install = actions.add_parser("install", help="download the server and make the stubs' environment")
    _add_python(install)
    actions.add_parser("check", help="say what is there, what is missing, and how to get it")
    start = actions.add_parser("start", help="serve a model repository until Ctrl-C")
    start.add_argument("repository", type=Path, metavar="REPO", help="the model repository")
    _add_python(start)
    for name in Ports._fields:
        start.add_argument(f"--{name}-port", type=int, metavar="PORT", help=f"{name} port (default: a free one)")
    start.add_argument("--log", type=Path, metavar="FILE", help="the server's log (default: a temporary file)")
    start.add_argument("extra", nargs="*", metavar="-- OPTIONS", help="further options of tritonserver")


def run(args: argparse.Namespace) -> int:
    """Do what `args.action` says and return the exit code."""
    if args.action == "install":
        return _install(args.python)
    if args.action == "check":
        return _check()
    return _start(args)


def _add_python(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--python", metavar="3.X", help=f"Python that stages run on: {', '.join(SUPPORTED)} (default: this one's)"
    )


def _say(line: str) -> None:
    print(f"tritonscope: {line}", file=sys.stderr, flush=True)


def _install(version: str | None) -> int:
    interpreter = find_python(version)
    server = ensure_installed(_say)
    environment = ensure_environment(interpreter, progress=_say)
    print(f"tritonserver {server.version} is in {server.root}")
    print(f"stages run on Python {interpreter.full_version} in {environment.root}")
    return 0


def _check() -> int:
    pythons = available_pythons()
    print(*_server_rows(), sep="\n")
    print(*(_python_row(version, pythons) for version in SUPPORTED), sep="\n")
    usable = any(not one.problem for one in pythons if one.version in SUPPORTED)
    return 0 if usable and _host_problem() == "" else 1


def _server_rows() -> Iterator[str]:
    problem = _host_problem()
    yield f"{_MISSING if problem else _OK} machine: {problem or 'can run the packaged server'}"
    server = installed()
    where = server.root if server else f"not in {cache_directory()}: 'tritonscope server install'"
    yield f"{_OK if server else _MISSING} tritonserver {VERSION}: {where}"


def _host_problem() -> str:
    try:
        check_host()
    except UnsupportedHostError as error:
        return str(error)
    return ""


def _python_row(version: str, pythons: list[Interpreter]) -> str:
    found = [one for one in pythons if one.version == version]
    usable = next((one for one in found if not one.problem), None)
    if usable is None:
        reason = found[0].problem if found else f"not on this machine: for example 'uv python install {version}'"
        return f"{_MISSING} Python {version}: {reason}"
    environment = environment_for(usable)
    made = f"environment {environment.root}" if environment.complete else "environment is made at the first start"
    return f"{_OK} Python {version}: {usable.executable}, {made}"


def _start(args: argparse.Namespace) -> int:
    # Whichever signal ends us, the server ends first. (Background jobs of a shell start with SIGINT ignored.)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    given = (args.http_port, args.grpc_port, args.metrics_port)
    ports = Ports(*(own or free for own, free in zip(given, free_ports(), strict=True))) if any(given) else None
    with TritonServer(
        args.repository, python=args.python, ports=ports, log_path=args.log, extra_args=args.extra, progress=_say
    ) as server:
        print(f"http     http://{server.http_url}")
        print(f"grpc     {server.grpc_url}")
        print(f"metrics  {server.metrics_url}")
        print(f"log      {server.log_path}")
        _say("ready; Ctrl-C ends it")
        return _serve(server)


def _serve(server: TritonServer) -> int:
    try:
        code = server.wait()
    except KeyboardInterrupt:
        _say("ending the server")
        return 0
    raise ServerStartError(f"the server ended by itself (exit code {code}):\n{server.log_tail()}")
