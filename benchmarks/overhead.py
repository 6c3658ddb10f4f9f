"""What observing costs a model that adds 1: bare, recorded only, and with agent and receiver on the same cores.

    python benchmarks/overhead.py [--rounds 5] [--seconds 5]

Real server, closed loop, every request sampled. The arms of a round run one after the other on servers of their
own; figures are ratios to the bare model of the same round.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from frame import Arm, Bar, Figures, Rounds, interleave, publish, ratios, spread
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan
from tritonscope.server.payloads import InputTensor
from tritonscope.server.process import TritonServer
from tritonscope.server.supervise import observed_environment
from tritonscope.testing.otlp_receiver import OtlpReceiver

CONFIG = """backend: "python"
max_batch_size: 8
input [{ name: "X" data_type: TYPE_FP32 dims: [ 4 ] }]
output [{ name: "Y" data_type: TYPE_FP32 dims: [ 4 ] }]
instance_group [{ kind: KIND_CPU count: 1 }]
dynamic_batching { }
"""
MODEL = """import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [self.add_one(pb_utils.get_input_tensor_by_name(request, "X").as_numpy()) for request in requests]

    def add_one(self, x):
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)])
"""
PAYLOAD = [InputTensor("X", "FP32", np.zeros((1, 4), np.float32))]
# Nobody empties it, so it must hold a run.
LARGE_RING = str(1 << 28)
Server = Callable[[Path, Path], TritonServer]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and return the exit code."""
    args = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, OtlpReceiver() as receiver:
        repository = write_add_one(Path(folder, "models"))
        results: Rounds = {}
        for concurrency in (1, 8):
            arms = [
                Arm(f"{name} c{concurrency}", _measured(server, repository, concurrency, args.seconds))
                for name, server in _servers(receiver.endpoint).items()
            ]
            results |= interleave(arms, args.rounds)
    return publish(
        "overhead",
        "Cost of observing a model that adds 1 (ratios to the bare model: median, least - most)",
        ("arm", "requests/s", "throughput", "p50", "p99"),
        [_row(results, arm) for arm in results],
        bars=_bars(results),
        results=results,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default 5)")
    parser.add_argument("--seconds", type=float, default=5, help="measured window of each run (default 5)")
    return parser


def write_add_one(repository: Path) -> Path:
    """Write the model that adds 1 into `repository`, and return that."""
    version = repository / "add_one" / "1"
    version.mkdir(parents=True)
    (version.parent / "config.pbtxt").write_text(CONFIG)
    (version / "model.py").write_text(MODEL)
    return repository


def _servers(endpoint: str) -> dict[str, Server]:
    def bare(repository: Path, _rings: Path) -> TritonServer:
        return TritonServer(repository)

    def recorded(repository: Path, rings: Path) -> TritonServer:
        added = {**observed_environment(rings, {}), "TRITONSCOPE_RING_BYTES": LARGE_RING}
        return TritonServer(repository, env=added)

    def everything(repository: Path, rings: Path) -> TritonServer:
        prefix = (sys.executable, "-m", "tritonscope", "run", "--dir", str(rings), "--")
        return TritonServer(repository, command_prefix=prefix, env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})

    return {"bare": bare, "recorded": recorded, "everything": everything}


def _measured(start: Server, repository: Path, concurrency: int, seconds: float) -> Callable[[], Figures]:
    def measure() -> Figures:
        with _rings() as rings, start(repository, rings) as server:
            plan = LoadPlan(
                server.grpc_url, "add_one", [PAYLOAD], ClosedLoop(concurrency), warmup_s=1, duration_s=seconds
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


@contextmanager
def _rings() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="tritonscope-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _base(arm: str) -> str:
    return f"bare {arm.rsplit(' ', 1)[1]}"


def _row(results: Rounds, arm: str) -> tuple[object, ...]:
    compared = [ratios(results, figure, arm, _base(arm)) for figure in ("throughput_per_s", "p50_us", "p99_us")]
    return (arm, spread(results, arm, "throughput_per_s"), *compared)


def _bars(results: Rounds) -> list[Bar]:
    def ratio(arm: str, figure: str) -> float:
        return ratios(results, figure, arm, _base(arm)).median

    added_us = spread(results, "recorded c1", "p50_us").median - spread(results, "bare c1", "p50_us").median
    return [
        Bar("recorded, concurrency 8: throughput", ratio("recorded c8", "throughput_per_s"), "at least", 0.98),
        Bar("recorded, concurrency 8: p99", ratio("recorded c8", "p99_us"), "at most", 1.05),
        Bar("recorded, concurrency 1: added to p50, us", added_us, "at most", 15),
        Bar("everything, concurrency 8: throughput", ratio("everything c8", "throughput_per_s"), "at least", 0.93),
        Bar("everything, concurrency 8: p99", ratio("everything c8", "p99_us"), "at most", 1.25),
    ]


if __name__ == "__main__":
    sys.exit(main())
