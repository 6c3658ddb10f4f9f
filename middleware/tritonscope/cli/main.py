"""Finds the command, runs it, and turns errors into one line on stderr and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from tritonscope import __version__
from tritonscope.errors import MissingExtraError, TritonscopeError, UsageError

# Name of the command -> (module, the line that `tritonscope --help` shows).
COMMANDS = {
    "demo": ("tritonscope.cli.demo", "run the example pipeline on a real Triton and say what throttles it"),
    "run": ("tritonscope.cli.run", "start your tritonserver with every Python stage observed; no file is touched"),
    "wrap": ("tritonscope.cli.wrap", "write a copy of a model repository whose Python stages are observed"),
    "analyze": ("tritonscope.cli.analyze", "name the stage that throttles a pipeline and what fixing it would buy"),
    "agent": ("tritonscope.cli.agent", "read the stubs' rings and send OpenTelemetry spans"),
    "load": ("tritonscope.cli.load", "put load on a model and report throughput and latency"),
    "server": ("tritonscope.cli.server", "install, check or start a tritonserver without Docker"),
}

# Top-level modules of third parties -> the extra that installs them.
_EXTRAS = {
    "opentelemetry": "agent", "grpc": "agent", "httpx": "agent",
    "rich": "analyze", "tritonclient": "analyze", "google": "analyze",
    "numpy": "demo", "PIL": "demo",
}  # fmt: skip


class Command(Protocol):
    """What a command's module offers; its docstring is the command's help."""

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tritonscope` with `argv` (default: the process's own) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except TritonscopeError as error:
        print(f"tritonscope: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        print(_overview())
        return 0 if words else UsageError.exit_code
    if words[0] in {"-V", "--version"}:
        print(f"tritonscope {__version__}")
        return 0
    command = _load(words[0])
    parser = argparse.ArgumentParser(
        prog=f"tritonscope {words[0]}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.prepare(parser)
    return command.run(parser.parse_args(words[1:]))


def _load(name: str) -> Command:
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}; the commands are: {', '.join(COMMANDS)}")
    try:
        return cast("Command", import_module(COMMANDS[name][0]))
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        raise MissingExtraError(
            f"'tritonscope {name}' needs {error.name}, which is not installed: pip install 'tritonscope[{extra}]'"
        ) from None


def _overview() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in COMMANDS.items())
    return (
        "tritonscope shows where time goes in Triton pipelines with Python stages, and what to change.\n\n"
        f"usage: tritonscope COMMAND [options]\n\n{rows}\n\n"
        "Start with 'tritonscope demo'. 'tritonscope COMMAND --help' explains each command with examples."
    )
