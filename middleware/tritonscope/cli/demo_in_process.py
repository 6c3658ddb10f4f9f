"""The demo where no real Triton runs: the same pipeline, observed, in the runtime of tritonscope.testing."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from tritonscope.cli.demo import Seen, read_summary, ring_folder, run_file, save, show, spans_line
from tritonscope.evidence import HostSample, LoadReport, StatisticsSample
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay
from tritonscope.repository.stages import Repository
from tritonscope.runs import ConfigLine
from tritonscope.server.examples import PIPELINE, example_repository
from tritonscope.server.latency import summarize
from tritonscope.server.pictures import Picture, sample_pictures
from tritonscope.settings import TRITONSCOPE_DIR
from tritonscope.sources.host import sample_host
from tritonscope.testing import InProcessServer

_PROC_STAT = Path("/proc/stat")


def run_in_process(args: argparse.Namespace, console: Console) -> int:
    """Run the demo without a server; the exit code is 0 if every request succeeded."""
    path = run_file(args.run_file)
    pictures = sample_pictures(lambda line: console.print(f"- {line}", highlight=False))
    repository = read_repository(example_repository())
    with ring_folder() as rings, tempfile.TemporaryDirectory(prefix="tritonscope-") as scratch:
        os.environ[TRITONSCOPE_DIR] = str(rings)
        load, edges = _serve(args, repository, pictures, Path(scratch, "observed"))
        agent = _drain(rings, path, Path(scratch, "summary.json"))
    seen = Seen([*_configs(repository), *edges, load], load, agent)
    save(path, seen.evidence)
    show(console, path)
    console.print(spans_line(seen.agent, None))
    return 0 if load.requests and not load.failures else 1


def _serve(
    args: argparse.Namespace, repository: Repository, pictures: list[Picture], overlay: Path
) -> tuple[LoadReport, list[StatisticsSample | HostSample]]:
    entries = {name: stage.entry for name, stage in repository.stages.items() if stage.is_python}
    write_overlay(example_repository(), overlay, entries)
    with InProcessServer(overlay) as server:
        edges = [*_sample(server)]
        load = _put_load(args, server, pictures)
        return load, [*edges, *_sample(server)]


def _sample(server: InProcessServer) -> list[StatisticsSample | HostSample]:
    return [server.statistics(), *([sample_host()] if _PROC_STAT.exists() else [])]


def _put_load(args: argparse.Namespace, server: InProcessServer, pictures: list[Picture]) -> LoadReport:
    """Keep `--concurrency` threads at work for `--duration` seconds; they share the GIL with the stages."""
    begun_ns = time.monotonic_ns()
    end_ns = begun_ns + int(args.duration * 1e9)
    latencies_ns: list[int] = []
    errors: list[str] = []

    def client(first: int) -> None:
        number = first
        while time.monotonic_ns() < end_ns:
            image = np.array([[pictures[number % len(pictures)].jpeg]], dtype=object)
            sent_ns = time.monotonic_ns()
            result = server.infer(PIPELINE, {"IMAGE": image})
            if result.error:
                errors.append(result.error)
            else:
                latencies_ns.append(time.monotonic_ns() - sent_ns)
            number += args.concurrency

    threads = [threading.Thread(target=client, args=(first,)) for first in range(args.concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return summarize(
        PIPELINE, time.monotonic_ns() - begun_ns, latencies_ns, len(errors), concurrency=args.concurrency,
        first_error=next(iter(errors), ""),
    )  # fmt: skip


def _drain(rings: Path, path: Path, summary: Path) -> dict[str, int]:
    """Let an agent read what the stages recorded, and return its counts."""
    words = ["agent", "--dir", str(rings), "--once", "--run-file", str(path), "--summary-file", str(summary)]
    subprocess.run([sys.executable, "-m", "tritonscope", *words], check=False, stdout=subprocess.DEVNULL)
    return read_summary(summary)


def _configs(repository: Repository) -> list[ConfigLine]:
    return [ConfigLine(name, text=stage.text, path=str(stage.path)) for name, stage in repository.stages.items()]
