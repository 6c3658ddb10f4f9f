"""How well a predicted gain comes true: the example pipeline as it is, and with two instances of its throttle.

    python benchmarks/prediction.py [--rounds 3] [--seconds 8]

Each round measures the pipeline, predicts what `count: 2` of `decode` would make of its throughput, and measures
that on a server of its own.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from frame import Arm, Bar, Figures, Rounds, Spread, interleave, publish, spread
from tritonscope.analyze.evidence import evidence_of
from tritonscope.analyze.limits import predict
from tritonscope.analyze.measured import measure
from tritonscope.analyze.models import choose_pipeline, repository_of
from tritonscope.cli.demo import payloads
from tritonscope.repository.edit import with_count
from tritonscope.runs import RunWriter, read_run
from tritonscope.server.examples import PIPELINE, example_repository
from tritonscope.server.load import run_load
from tritonscope.server.load_plan import ClosedLoop, LoadPlan
from tritonscope.server.pictures import sample_pictures
from tritonscope.server.process import TritonServer
from tritonscope.sources.host import sample_host
from tritonscope.sources.triton_http import TritonHttp

THROTTLE = "decode"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and return the exit code."""
    args = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        doubled = _doubled(Path(folder, "doubled"))
        arms = [
            Arm("count: 1", _measured(example_repository(), args)),
            Arm("count: 2", _measured(doubled, args)),
        ]
        results = interleave(arms, args.rounds)
    return publish(
        "prediction",
        "Predicted and measured throughput of image_pipeline, requests/s (median, least - most)",
        ("arm", "measured", "predicted for count: 2", "lower bound", "upper bound"),
        [
            ("count: 1", *(spread(results, "count: 1", name) for name in ("per_s", "predicted", "lower", "upper"))),
            ("count: 2", spread(results, "count: 2", "per_s"), "", "", ""),
        ],
        bars=_bars(results),
        results=results,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds (default 3)")
    parser.add_argument("--seconds", type=float, default=8, help="measured window of each run (default 8)")
    parser.add_argument("--concurrency", type=int, default=8, help="requests in flight (default 8)")
    return parser


def _doubled(target: Path) -> Path:
    shutil.copytree(example_repository(), target)
    config = target / THROTTLE / "config.pbtxt"
    changed = with_count(config.read_text(), 2)
    if changed is None:
        raise SystemExit(f"{config} has no single instance count to change")
    config.write_text(changed)
    return target


def _measured(repository: Path, args: argparse.Namespace) -> Callable[[], Figures]:
    def run() -> Figures:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.jsonl")
            _record(repository, path, args)
            return _figures(path)

    return run


def _record(repository: Path, path: Path, args: argparse.Namespace) -> None:
    pictures = sample_pictures()
    with (
        TritonServer(repository) as server,
        TritonHttp(server.http_url) as triton,
        closing(RunWriter(path)) as writer,
    ):

        def sample() -> None:
            writer.write(triton.statistics())
            writer.write(sample_host())

        for config in triton.configs():
            writer.write(config)
        plan = LoadPlan(
            server.grpc_url, PIPELINE, payloads(pictures), ClosedLoop(args.concurrency), duration_s=args.seconds
        )
        writer.write(run_load(plan, on_window_start=sample, on_window_end=sample))


def _figures(path: Path) -> Figures:
    run = read_run(path)
    pipeline = choose_pipeline(repository_of(run.configs.values()), run, PIPELINE)
    measured = measure(evidence_of(pipeline, run))
    if measured is None:
        raise SystemExit("nothing was measured")
    effect = predict(measured, THROTTLE, 2)
    return {
        "per_s": measured.requests_per_s,
        "predicted": effect.per_s,
        "lower": effect.lower_per_s,
        "upper": effect.upper_per_s,
    }


def _bars(results: Rounds) -> list[Bar]:
    pairs = list(zip(results["count: 1"], results["count: 2"], strict=True))
    errors = Spread.of([abs(before["predicted"] / after["per_s"] - 1) for before, after in pairs])
    inside = sum(before["lower"] <= after["per_s"] <= before["upper"] for before, after in pairs)
    return [
        Bar("error of the prediction, median share", errors.median, "at most", 0.15),
        Bar("rounds inside of the predicted interval, share", inside / len(pairs), "at least", 0.9),
    ]


if __name__ == "__main__":
    sys.exit(main())
