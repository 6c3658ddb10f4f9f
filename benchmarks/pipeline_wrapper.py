"""What running an ensemble as a Python model costs: throughput and latency against the ensemble's own.

    python benchmarks/pipeline_wrapper.py [--rounds 5] [--seconds 3]

Real server, closed loop, an ensemble of two stages that add 1, the worst case: the stages themselves do nothing.
The arms of a round run one after the other on servers of their own; nothing observes the models.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from frame import Arm, Figures, Rounds, interleave, publish, ratios, spread
from overhead import PAYLOAD, write_add_one
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay
from tritonscope.repository.pipeline_model import plan_of, write_pipeline_model
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan
from tritonscope.server.process import TritonServer

ENSEMBLE = """platform: "ensemble"
max_batch_size: 8
input [{ name: "X" data_type: TYPE_FP32 dims: [ 4 ] }]
output [{ name: "Y" data_type: TYPE_FP32 dims: [ 4 ] }]
ensemble_scheduling { step [
  {
    model_name: "add_one"
    model_version: -1
    input_map { key: "X" value: "X" }
    output_map { key: "Y" value: "mid" }
  },
  {
    model_name: "add_one"
    model_version: -1
    input_map { key: "X" value: "mid" }
    output_map { key: "Y" value: "Y" }
  } ]
}
"""
INSTANCES = (1, 2, 4)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and return the exit code."""
    args = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        repositories = _write_repositories(Path(folder))
        results: Rounds = {}
        for concurrency in (1, 8):
            arms = [
                Arm(f"{name} c{concurrency}", _measured(path, concurrency, args.seconds))
                for name, path in repositories.items()
            ]
            results |= interleave(arms, args.rounds)
    return publish(
        "pipeline_wrapper",
        "An ensemble of two stages that add 1, as a Python model (ratios to the ensemble: median, least - most)",
        ("arm", "requests/s", "throughput", "p50", "p99"),
        [_row(results, arm) for arm in results],
        bars=(),
        results=results,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default 5)")
    parser.add_argument("--seconds", type=float, default=3, help="measured window of each run (default 3)")
    return parser


def _write_repositories(folder: Path) -> dict[str, Path]:
    """Write the ensemble, and one overlay for each number of instances."""
    source = write_add_one(folder / "models")
    (source / "twice" / "1").mkdir(parents=True)
    (source / "twice" / "config.pbtxt").write_text(ENSEMBLE)
    repository = read_repository(source)
    written = {"ensemble": source}
    for count in INSTANCES:
        write = partial(write_pipeline_model, repository.stages["twice"], plan_of("twice", repository), count)
        name = f"model x{count}"
        written[name] = write_overlay(source, folder / f"overlay-{count}", {}, instead={"twice": write}).root
    return written


def _measured(repository: Path, concurrency: int, seconds: float) -> Callable[[], Figures]:
    def measure() -> Figures:
        with TritonServer(repository, env={"TRITONSCOPE": "0"}) as server:
            plan = LoadPlan(
                server.grpc_url, "twice", [PAYLOAD], ClosedLoop(concurrency), warmup_s=1, duration_s=seconds
            )
            report = run_load(plan)
        if report.failures:
            raise SystemExit(f"{report.failures} requests failed: {report.first_error}")
        return {
            "throughput_per_s": report.throughput_per_s,
            "p50_us": report.latency_p50_ns / 1e3,
            "p99_us": report.latency_p99_ns / 1e3,
        }

    return measure


def _row(results: Rounds, arm: str) -> tuple[object, ...]:
    base = f"ensemble {arm.rsplit(' ', 1)[1]}"
    compared = [ratios(results, figure, arm, base) for figure in ("throughput_per_s", "p50_us", "p99_us")]
    return (arm, spread(results, arm, "throughput_per_s"), *compared)


if __name__ == "__main__":
    sys.exit(main())
