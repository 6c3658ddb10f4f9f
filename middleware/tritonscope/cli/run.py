"""Start a server with every Python stage observed; no file of yours is touched.

The stubs that the server starts find an import hook in their own Python (tritonscope must be installed there) and
write what they do into rings in shared memory; an agent beside the server turns that into OpenTelemetry spans.
All OTEL_* variables are honoured, e.g. OTEL_EXPORTER_OTLP_ENDPOINT. The exit code is the server's.

Examples:
  tritonscope run -- tritonserver --model-repository=/models
  OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318 tritonscope run -- tritonserver --model-repository=/models
  tritonscope run --run-file today.jsonl -- tritonserver --model-repository=/models
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tritonscope.server.supervise import Outcome, supervise
from tritonscope.settings import read_settings


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dir", type=Path, metavar="DIR", help="folder for the rings (default: TRITONSCOPE_DIR)")
    parser.add_argument("--run-file", type=Path, metavar="FILE", help="also save everything seen into a run file")
    parser.add_argument("--summary-file", type=Path, metavar="FILE", help="write the agent's counts there (JSON)")
    parser.add_argument("--no-agent", action="store_true", help="record only; an agent elsewhere reads the rings")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the server's command line")


def run(args: argparse.Namespace) -> int:
    """Run the server and return its exit code."""
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    directory = args.dir or read_settings().directory
    outcome = supervise(command, directory, _agent_options(args))
    if args.summary_file:
        args.summary_file.write_text(json.dumps(outcome.summary) + "\n")
    print(_closing_line(outcome), file=sys.stderr)
    return outcome.exit_code


def _agent_options(args: argparse.Namespace) -> list[str] | None:
    if args.no_agent:
        return None
    return ["--run-file", str(args.run_file)] if args.run_file else []


def _closing_line(outcome: Outcome) -> str:
    summary = outcome.summary
    if not summary:
        return "tritonscope: the agent left no summary"
    if not summary.get("rings"):
        return (
            "tritonscope: no stub was observed; install tritonscope in the Python that the server's stubs use "
            "('python3 -m pip install tritonscope' in the image)"
        )
    counted = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in summary.items())
    return f"tritonscope: {counted}"
