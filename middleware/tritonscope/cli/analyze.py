"""Name the stage that throttles a pipeline, with the evidence, what fixing it would buy and what binds next.

Takes a run file, or asks a running server twice and judges by what happened in between (put your load on it
meanwhile), or reads a model repository alone, which only tells candidates. With --repository besides a run or a
url, changes are shown in your own config.pbtxt.

Examples:
  tritonscope analyze --url localhost:8000
  tritonscope analyze --url localhost:8000 --model ocr --window 30 --repository model_repository
  tritonscope analyze today.jsonl --json
  tritonscope analyze --repository model_repository
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from tritonscope.analyze.analysis import Analysis, analyze
from tritonscope.analyze.evidence import Evidence, evidence_of
from tritonscope.analyze.models import choose_pipeline, repository_of, with_files
from tritonscope.errors import RunFileError, UsageError
from tritonscope.report.json import to_json
from tritonscope.report.terminal import print_analysis
from tritonscope.repository.folder import read_repositories
from tritonscope.repository.stages import Repository
from tritonscope.runs import Run, RunWriter, read_run
from tritonscope.sources.live import record
from tritonscope.sources.triton_http import TritonHttp

_TICK_S = 0.1


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN.jsonl", help="a run file")
    parser.add_argument("--url", metavar="HOST:PORT", help="HTTP port of a running Triton, e.g. localhost:8000")
    parser.add_argument(
        "--repository", type=Path, metavar="DIR", action="append", help="a model repository; repeat it for several"
    )
    parser.add_argument("--model", default="", metavar="NAME", help="the pipeline (default: the only one there is)")
    parser.add_argument(
        "--window", type=_seconds, default=10.0, metavar="S", help="with --url: seconds to measure (default: 10)"
    )
    parser.add_argument(
        "--run-file", type=Path, metavar="FILE", help="with --url: also add what was seen to a run file"
    )
    parser.add_argument("--json", action="store_true", help="print the analysis as JSON (times in ns)")


def run(args: argparse.Namespace) -> int:
    """Analyze what was given, print the analysis and return 0."""
    _check(args)
    files = read_repositories(args.repository) if args.repository else Repository({})
    recorded = _recorded(args)
    analysis = _analyze(recorded, files, args.model)
    if args.json:
        sys.stdout.write(to_json(analysis))
    else:
        print_analysis(analysis, Console())
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.run and args.url:
        raise UsageError("give a run file or --url, not both")
    if not (args.run or args.url or args.repository):
        raise UsageError("nothing to analyze: give a run file, --url HOST:PORT or --repository DIR")
    if args.run_file and not args.url:
        raise UsageError("--run-file saves what --url sees: give --url HOST:PORT")


def _recorded(args: argparse.Namespace) -> Run | None:
    if args.run:
        return read_run(args.run)
    if not args.url:
        return None
    if args.run_file:
        return _record(args.url, args.run_file, args.window)
    with TemporaryDirectory(prefix="tritonscope-") as folder:
        return _record(args.url, Path(folder, "run.jsonl"), args.window)


def _record(url: str, path: Path, window_s: float) -> Run:
    with TritonHttp(url) as server:
        if not server.ready():
            print(f"tritonscope: not all models of {server.url} are ready", file=sys.stderr)
        try:
            with closing(RunWriter(path)) as writer:
                record(server, writer, lambda: _wait(url, window_s))
        except OSError as error:
            raise RunFileError(f"the run file {path} cannot be written: {error.strerror}") from None
    run = read_run(path)
    # The file may hold older periods, and reports of their loads.
    return run._replace(statistics=run.statistics[-2:], hosts=run.hosts[-2:], loads=())


def _wait(url: str, window_s: float) -> None:
    """Wait for `window_s` seconds, with a bar where somebody looks."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"measuring {url}", total=window_s)
        end = time.monotonic() + window_s
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _TICK_S))
            bar.update(task, completed=window_s - left)


def _analyze(recorded: Run | None, files: Repository, model: str) -> Analysis:
    repository = with_files(repository_of(recorded.configs.values() if recorded else ()), files)
    if not repository.stages and not repository.broken:
        raise UsageError("the run file holds no configurations: give --repository DIR as well")
    pipeline = choose_pipeline(repository, recorded, model)
    evidence = evidence_of(pipeline, recorded) if recorded else Evidence(pipeline)
    return analyze(evidence, [*_notes(repository, recorded)])


def _notes(repository: Repository, recorded: Run | None) -> Iterator[str]:
    yield from map(str, repository.problems)
    yield from repository.notes
    if recorded is None:
        return
    if len(recorded.statistics) < 2:  # noqa: PLR2004 - before and after
        yield (
            "the run file holds no statistics of the server's: record some with "
            "'tritonscope analyze --url HOST:PORT --run-file FILE' while it is under load"
        )
    if recorded.damaged_lines:
        count, first = len(recorded.damaged_lines), recorded.damaged_lines[0]
        yield f"{count} damaged lines of the run file were left out; the first is line {first}"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value
