"""The command line: one module a command, and one place that prints errors and returns exit codes."""

from tritonscope.cli.main import main

__all__ = ["main"]
