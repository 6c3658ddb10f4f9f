"""Put load on one model of a running Triton over gRPC, and report throughput and latency.

Requests are random values in the shapes that the model declares; --input-file gives real ones. Without --rate a
number of requests is kept in flight. With --rate they are sent at that rate whatever comes back, and latency counts
from the moment a request was due.

Examples:
  tritonscope load --url localhost:8001 --model resnet --concurrency 8
  tritonscope load --url localhost:8001 --model ocr --input-file IMAGE=page.jpg --rate 50 --duration 30
  tritonscope load --url localhost:8001 --model bert --shape TOKENS:1,128 --json
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tritonscope.errors import UsageError
from tritonscope.evidence import LoadReport
from tritonscope.server.load import LoadProgress, run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan, OpenLoop
from tritonscope.server.perf_analyzer import run_perf_analyzer
from tritonscope.server.sample_inputs import random_payloads
from tritonscope.server.target import describe

_BUSY_CLIENT = 0.9
_KEPT_UP = 0.95


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--url", default="localhost:8001", metavar="HOST:PORT", help="gRPC (default: %(default)s)")
    parser.add_argument("--model", required=True, metavar="NAME", help="the model, or ensemble")
    parser.add_argument("--model-version", default="", metavar="N", help="its version (default: the newest)")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        "--concurrency", type=int, default=8, metavar="N", help="requests kept in flight (default: 8)"
    )
    pace.add_argument("--rate", type=float, metavar="PER_S", help="requests a second, sent at random moments")
    parser.add_argument("--even", action="store_true", help="with --rate: at even intervals instead")
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="seconds measured (default: 10)")
    parser.add_argument("--warmup", type=float, default=2.0, metavar="S", help="seconds before that (default: 2)")
    parser.add_argument(
        "--requests", type=int, metavar="N", help="stop after this many requests, if that is earlier"
    )
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="batch size of each request (default: 1)")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="IN:1,3,224", help="whole shape of an input"
    )
    parser.add_argument(
        "--input-file", action="append", default=[], metavar="IN=PATH",
        help="an input's value: a .npy array, or any file as one BYTES element or as raw values",
    )  # fmt: skip
    parser.add_argument("--perf-analyzer", action="store_true", help="let NVIDIA's perf_analyzer make the load")
    parser.add_argument("--json", action="store_true", help="print the report as JSON (times in ns)")


def run(args: argparse.Namespace) -> int:
    """Make the load, print what was seen, and return 0 if any request succeeded."""
    plan = _plan(args)
    report, client_cpu = (_with_perf_analyzer(plan), 0.0) if args.perf_analyzer else _with_own_client(plan)
    print(msgspec.json.encode(report).decode() if args.json else _text(report))
    for line in _warnings(report, client_cpu):
        print(f"tritonscope: {line}", file=sys.stderr)
    return 0 if report.requests else 1


def _plan(args: argparse.Namespace) -> LoadPlan:
    if args.perf_analyzer and (args.shape or args.input_file or args.requests):
        raise UsageError(
            "perf_analyzer makes its own inputs and end: leave out --shape, --input-file and --requests"
        )
    shapes = dict(parse_shape(word) for word in args.shape)
    files = dict(parse_file(word) for word in args.input_file)
    target = describe(args.url, args.model, args.model_version)
    if not 1 <= args.batch <= max(target.max_batch_size, 1):
        raise UsageError(f"--batch must be 1 to {max(target.max_batch_size, 1)} for {args.model}, not {args.batch}")
    batch = args.batch if target.max_batch_size > 0 else None
    payloads = random_payloads(target.inputs, shapes=shapes, files=files, batch=batch)
    pace = ClosedLoop(args.concurrency) if args.rate is None else OpenLoop(args.rate, poisson=not args.even)
    plan = LoadPlan(
        args.url, args.model, payloads, pace, version=args.model_version, warmup_s=args.warmup,
        duration_s=args.duration, requests=args.requests,
    )  # fmt: skip
    plan.check()
    return plan


def parse_shape(word: str) -> tuple[str, list[int]]:
    """Return name and sizes of "NAME:1,3,224".

    Raises:
        UsageError: `word` is something else.
    """
    # From the right: a name may hold a colon ("serving_default_x:0").
    name, _, sizes = word.rpartition(":")
    parts = sizes.split(",")
    if not name or not all(part.strip().isdecimal() for part in parts):
        raise UsageError(f"--shape {word!r} is not NAME:SIZE,SIZE,... (for example --shape IMAGE:1,3,224,224)")
    return name, [int(part) for part in parts]


def parse_file(word: str) -> tuple[str, Path]:
    """Return name and path of "NAME=path".

    Raises:
        UsageError: `word` is something else.
    """
    name, equals, path = word.partition("=")
    if not name or not equals or not path:
        raise UsageError(f"--input-file {word!r} is not NAME=PATH (for example --input-file IMAGE=cat.jpg)")
    return name, Path(path)


def _with_own_client(plan: LoadPlan) -> tuple[LoadReport, float]:
    """Return the report, and the share of one core that this process used meanwhile."""
    wall, cpu = time.monotonic(), time.process_time()
    with progress_bar(plan.model) as show:
        report = run_load(plan, on_progress=show)
    return report, (time.process_time() - cpu) / (time.monotonic() - wall)


def _with_perf_analyzer(plan: LoadPlan) -> LoadReport:
    pace = plan.loop
    duration_s = plan.duration_s or 10.0
    if isinstance(pace, OpenLoop):
        return run_perf_analyzer(plan.url, plan.model, rate_per_s=pace.rate_per_s, duration_s=duration_s)
    return run_perf_analyzer(plan.url, plan.model, concurrency=pace.concurrency, duration_s=duration_s)


@contextmanager
def progress_bar(model: str) -> Iterator[Callable[[LoadProgress], None]]:
    """Show on stderr how far a load is, and clear it away; yields what `run_load` tells its progress."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[counted]}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(model, total=None, counted="")

        def show(now: LoadProgress) -> None:
            counted = f"{now.requests} ok, {now.failures} failed" if now.phase == "measuring" else ""
            bar.update(task, description=f"{model}: {now.phase}", total=now.total_s, completed=now.elapsed_s,
                       counted=counted)  # fmt: skip

        yield show


def _text(report: LoadReport) -> str:
    pace = f"{report.rate_per_s:g} requests/s offered" if report.rate_per_s else f"{report.concurrency} in flight"
    latencies = [
        ("mean", report.latency_mean_ns), ("p50", report.latency_p50_ns), ("p90", report.latency_p90_ns),
        ("p95", report.latency_p95_ns), ("p99", report.latency_p99_ns), ("max", report.latency_max_ns),
    ]  # fmt: skip
    lines = [
        f"{report.model}: {report.throughput_per_s:.1f} requests/s ({pace}, {report.window_ns / 1e9:.1f} s)",
        f"  requests    {report.requests} succeeded, {report.failures} failed",
        "  latency ms  " + "   ".join(f"{name} {value / 1e6:.2f}" for name, value in latencies if value),
    ]
    return "\n".join(lines)


def _warnings(report: LoadReport, client_cpu: float) -> Iterator[str]:
    if report.failures:
        yield f"the first failure was: {report.first_error}"
    if report.rate_per_s and report.throughput_per_s < _KEPT_UP * report.rate_per_s:
        yield (
            f"only {report.throughput_per_s:.1f} of {report.rate_per_s:g} requests/s were answered: the server "
            "does not keep up, and latency grows for as long as the load lasts"
        )
    if client_cpu > _BUSY_CLIENT:
        yield (
            f"this client used {client_cpu:.0%} of a core: the numbers may be its limit, not the server's; "
            "use --perf-analyzer, or a client on another machine"
        )
