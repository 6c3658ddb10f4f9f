"""Read the rings of all stubs on this host and send OpenTelemetry spans over OTLP.

'tritonscope run' starts an agent by itself. Start one yourself beside a server whose stubs have TRITONSCOPE=1, for
instance as a sidecar that shares the folder for the rings. One agent reads a folder; it ends on SIGTERM or Ctrl-C
with what is left sent. Where spans go is set by OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT,
OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, ...); by default to http://localhost:4318.

Examples:
  OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318 tritonscope agent
  OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_ENDPOINT=http://tempo:4317 tritonscope agent
  OTEL_TRACES_EXPORTER=none tritonscope agent --run-file today.jsonl --exit-when-idle-s 10
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tritonscope.agent.counters import AgentCounters
from tritonscope.agent.exporter import start_delivery
from tritonscope.agent.folder import FolderLock
from tritonscope.agent.loop import Agent, Tracing
from tritonscope.agent.otlp_settings import OtlpSettings, read_otlp_settings
from tritonscope.agent.recording import Recording
from tritonscope.agent.resource import host_resource
from tritonscope.agent.sampling import read_sampler
from tritonscope.errors import SettingError
from tritonscope.settings import log, read_settings

_ENDING = {signal.SIGTERM, signal.SIGINT}
_LOWEST_PRIORITY = 19
_UNUSED_PAUSE_S = 1.0


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dir", type=Path, metavar="DIR", help="folder for the rings (default: TRITONSCOPE_DIR)")
    parser.add_argument("--run-file", type=Path, metavar="FILE", help="also save everything seen into a run file")
    parser.add_argument(
        "--summary-file", type=Path, metavar="FILE", help="write the counters there at the end (JSON)"
    )
    parser.add_argument("--once", action="store_true", help="read and send what is there now, then end")
    parser.add_argument(
        "--exit-when-idle-s", type=_positive, metavar="N", help="end when no record has come for N seconds"
    )
    parser.add_argument(
        "--poll-ms", type=_positive, default=100.0, metavar="N", help="pause between two looks at the rings (100)"
    )
    parser.add_argument(
        "--nice",
        type=int,
        default=_LOWEST_PRIORITY,
        choices=range(_LOWEST_PRIORITY + 1),
        metavar="N",
        help="lower the agent's priority by N, 0 to 19 (19)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the agent to its end; the exit code is 0 whatever the receiver of the spans does."""
    settings = read_settings()
    _log_to_stderr(settings.log_level)
    _check(args.summary_file)
    directory = args.dir or settings.directory
    lock = FolderLock(directory)
    try:
        os.nice(args.nice)
        with _ending_signals() as wait:
            _tell(_work(args, directory, wait), args.summary_file)
    finally:
        lock.release()
    return 0


def _work(args: argparse.Namespace, directory: Path, wait: Callable[[float], bool]) -> AgentCounters:
    recording = Recording(args.run_file) if args.run_file else None
    otlp = read_otlp_settings()
    print(f"tritonscope agent: reading {directory}, {_destination(otlp)}", file=sys.stderr, flush=True)
    tracing = Tracing(host_resource(), read_sampler(), start_delivery(otlp)) if otlp.enabled else None
    agent = Agent(directory, tracing, recording)
    try:
        if args.once:
            # The first pause comes when no ring holds more.
            agent.run(lambda pause_s: pause_s > 0 or wait(0.0), _UNUSED_PAUSE_S)
        else:
            agent.run(wait, args.poll_ms / 1000, args.exit_when_idle_s)
    finally:
        counters = agent.finish()
    return counters


@contextmanager
def _ending_signals() -> Iterator[Callable[[float], bool]]:
    """Yield a pause that tells whether SIGTERM or SIGINT has come.

    Blocked signals wait for `sigtimedwait`, so none interrupts a read or the last delivery. Threads inherit the
    mask: it is set before any is started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield lambda seconds: signal.sigtimedwait(_ENDING, seconds) is not None
    finally:
        # A second Ctrl-C that came meanwhile must not turn a good end into a bad one.
        while signal.sigtimedwait(_ENDING, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _destination(otlp: OtlpSettings) -> str:
    return f"sending to {otlp.endpoint} ({otlp.protocol.value})" if otlp.enabled else "sending nothing"


def _tell(counters: AgentCounters, summary_file: Path | None) -> None:
    counted = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counters._asdict().items())
    print(f"tritonscope agent: {counted}", file=sys.stderr)
    if summary_file:
        try:
            summary_file.write_text(json.dumps(counters._asdict()) + "\n")
        except OSError as error:
            raise SettingError(f"--summary-file {summary_file} cannot be written: {error.strerror}") from None


def _check(summary_file: Path | None) -> None:
    if summary_file and not summary_file.resolve().parent.is_dir():
        raise SettingError(f"--summary-file {summary_file}: there is no folder {summary_file.resolve().parent}")


def _log_to_stderr(level: str) -> None:
    log.setLevel(level)
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("tritonscope agent: %(message)s"))
        log.addHandler(handler)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
