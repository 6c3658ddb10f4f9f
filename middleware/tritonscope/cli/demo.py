"""Run the example pipeline on a real Triton, put load on it, and say which stage throttles it.

The first run downloads a tritonserver (55 MB) and photographs (15 MB) into the cache. Spans go where
OTEL_EXPORTER_OTLP_ENDPOINT says; without it, to a receiver of the demo's own that counts them. Everything seen is
saved in a run file that 'tritonscope analyze' reads again.

Examples:
  tritonscope demo
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 tritonscope demo --traces
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from tritonscope.analyze.analysis import analyze
from tritonscope.analyze.evidence import evidence_of
from tritonscope.analyze.models import choose_pipeline, repository_of, with_files
from tritonscope.cli.load import progress_bar
from tritonscope.errors import ServerError, UnsupportedHostError
from tritonscope.evidence import HostSample, LoadReport, StatisticsSample
from tritonscope.report.terminal import print_analysis
from tritonscope.repository.folder import read_repository
from tritonscope.runs import Evidence, RunWriter, read_run
from tritonscope.server.examples import PIPELINE, example_repository
from tritonscope.server.install import check_host
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan
from tritonscope.server.payloads import InputTensor, Payload
from tritonscope.server.pictures import Picture, sample_pictures
from tritonscope.server.process import TritonServer
from tritonscope.server.supervise import require_writable
from tritonscope.settings import read_settings
from tritonscope.sources.host import sample_host
from tritonscope.sources.triton_http import TritonHttp
from tritonscope.testing.otlp_receiver import OtlpReceiver

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")


class Seen(NamedTuple):
    """What the demo saw from outside: evidence for the run file, and the agent's own count of what it did."""

    evidence: list[Evidence]
    load: LoadReport
    agent: Mapping[str, int]


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests in flight (default: 8)")
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="seconds of load (default: 10)")
    parser.add_argument("--python", metavar="X.Y", help="Python version that the stages run on (default: this one)")
    parser.add_argument("--run-file", type=Path, metavar="FILE", help="where to save the run (default: runs/...)")
    parser.add_argument("--traces", action="store_true", help="let Triton send its own spans to the endpoint too")


def run(args: argparse.Namespace) -> int:
    """Run the demo; the exit code is 0 if every request succeeded."""
    console = Console()
    try:
        check_host()
    except UnsupportedHostError as error:
        from tritonscope.cli.demo_in_process import run_in_process  # noqa: PLC0415 - needed on few machines

        console.print(f"No real Triton here, an in-process imitation of it instead: {error}")
        return run_in_process(args, console)
    path = run_file(args.run_file)
    with ExitStack() as stack:
        rings = stack.enter_context(ring_folder())
        receiver = None if any(name in os.environ for name in _ENDPOINTS) else stack.enter_context(OtlpReceiver())
        seen = _observe(args, console, path, rings, receiver)
        received = len(receiver.spans) if receiver else None
    save(path, seen.evidence)
    show(console, path)
    console.print(spans_line(seen.agent, received))
    return 0 if seen.load.requests and not seen.load.failures else ServerError.exit_code


def save(path: Path, evidence: list[Evidence]) -> None:
    """Append `evidence` to the run file."""
    with closing(RunWriter(path)) as writer:
        for piece in evidence:
            writer.write(piece)


def show(console: Console, path: Path) -> None:
    """Print the analysis of a run of the example, and where to look next."""
    recorded = read_run(path)
    repository = with_files(repository_of(recorded.configs.values()), read_repository(example_repository()))
    pipeline = choose_pipeline(repository, recorded, PIPELINE)
    console.rule("verdict")
    print_analysis(analyze(evidence_of(pipeline, recorded)), console)
    console.rule("where to look next")
    console.print(f"the run, to analyze again:  tritonscope analyze {path}", soft_wrap=True)
    console.print("your own server:            tritonscope run -- tritonserver --model-repository=...")
    console.print(
        "traces in Jaeger:           OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 tritonscope demo --traces"
    )


def payloads(pictures: list[Picture]) -> list[Payload]:
    """Return one request for each picture."""
    return [[InputTensor("IMAGE", "BYTES", np.array([[picture.jpeg]], dtype=object))] for picture in pictures]


def run_file(given: Path | None) -> Path:
    """Return the run file to write, its folder made."""
    path = given or Path("runs", time.strftime("demo-%Y%m%d-%H%M%S.jsonl"))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def ring_folder() -> Iterator[Path]:
    """Yield a folder of the demo's own for rings, beside the one that servers use."""
    parent = read_settings().directory.parent
    require_writable(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix="tritonscope-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _observe(
    args: argparse.Namespace, console: Console, path: Path, rings: Path, receiver: OtlpReceiver | None
) -> Seen:
    """Serve the example with every stage observed, put load on it, and return what was seen."""

    def say(line: str) -> None:
        console.print(f"- {line}", highlight=False)

    pictures = sample_pictures(say)
    say(f"{len(pictures)} pictures, {pictures[0].origin}; starting tritonserver with every Python stage observed")
    summary = rings / "summary.json"
    prefix = [sys.executable, "-m", "tritonscope", "run", "--dir", str(rings), "--run-file", str(path.absolute())]
    with TritonServer(
        example_repository(), python=args.python, progress=say, otlp_url=_tritons_url(args, receiver),
        command_prefix=[*prefix, "--summary-file", str(summary), "--"],
        env={"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint} if receiver else {},
    ) as server:  # fmt: skip
        say(f"load: {args.concurrency} requests in flight for {args.duration:g} s")
        evidence, load = _put_load(args, server, pictures)
        say(f"{load.requests} requests, {load.failures} failed {load.first_error}".rstrip())
        say("stopping the server; the agent sends what is left")
    return Seen(evidence, load, read_summary(summary))


def _tritons_url(args: argparse.Namespace, receiver: OtlpReceiver | None) -> str | None:
    if not args.traces:
        return None
    endpoint = receiver.endpoint if receiver else os.environ.get(_ENDPOINTS[0], "http://localhost:4318")
    return f"{endpoint.rstrip('/')}/v1/traces"


def _put_load(
    args: argparse.Namespace, server: TritonServer, pictures: list[Picture]
) -> tuple[list[Evidence], LoadReport]:
    edges: list[StatisticsSample | HostSample] = []
    with TritonHttp(server.http_url) as triton, progress_bar(PIPELINE) as on_progress:

        def sample() -> None:
            edges.extend((triton.statistics(), sample_host()))

        plan = LoadPlan(
            server.grpc_url, PIPELINE, payloads(pictures), ClosedLoop(args.concurrency), duration_s=args.duration
        )
        load = run_load(plan, on_progress=on_progress, on_window_start=sample, on_window_end=sample)
        return [*triton.configs(), *edges, load], load


def read_summary(summary: Path) -> dict[str, int]:
    """Return what the agent counted, nothing if it left no count."""
    try:
        counts: dict[str, int] = json.loads(summary.read_text())
    except (OSError, ValueError):
        return {}  # the agent was killed: the demo tells what it saw itself
    return counts


def spans_line(agent: Mapping[str, int], received: int | None) -> str:
    """Return in a line what became of the spans; `received` is what the demo's own receiver got."""
    if not agent:
        return "spans: the agent ended early and left no count"
    lost = agent["spans_failed"] + agent["spans_dropped"]
    line = f"spans: {agent['spans_sent']} sent, {lost} not delivered"
    if received is not None:
        return f"{line}; the demo's own receiver got {received}"
    return line if not lost else f"{line}: is there a receiver at the endpoint? (unset OTEL_* for the demo's own)"
