"""How many instructions observing a batch takes: the figure that a busy machine cannot move.

    python benchmarks/hot_path.py [--batches 2000]

Runs an observed model's `execute` under `valgrind --tool=callgrind`, so many times and twice as many, and bare in
same way. The difference between the two runs is what the batches took, the start of Python left out; that between
observed and bare is what observing takes. Requests are objects whose methods are C functions that return constants,
for in a stub these belong to Triton.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from frame import Bar, Figures, Rounds, publish

SIZES = (1, 8)
CONTEXT = json.dumps({"traceparent": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"})
_COLLECTED = re.compile(r"Collected : (\d+)")


class Request:
    """A request whose methods are constants made of C functions."""

    __slots__ = ("get_context", "parameters", "request_id", "trace")

    def __init__(self) -> None:
        self.request_id = itertools.repeat("request-1").__next__
        self.get_context = itertools.repeat(CONTEXT).__next__
        self.parameters = itertools.repeat("{}").__next__
        self.trace = itertools.repeat(self).__next__


class Response:
    """A response without an error."""

    __slots__ = ("has_error",)

    def __init__(self) -> None:
        self.has_error = itertools.repeat(object=False).__next__


class Model:
    """Returns the responses that it has."""

    def initialize(self, args: dict[str, Any]) -> None:
        """Make the responses to a batch of `size`."""
        self.responses = [Response() for _ in range(args["size"])]

    def execute(self, _requests: Sequence[Any]) -> list[Response]:
        """Return them."""
        return self.responses


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and return the exit code."""
    args = _parser().parse_args(argv)
    if args.child:
        return _run(*args.child)
    if shutil.which("valgrind") is None:
        print("this benchmark counts with valgrind: apt-get install valgrind", file=sys.stderr)
        return 2
    results: Rounds = {f"batch of {size}": [_measure(size, args.batches)] for size in SIZES}
    return publish(
        "hot_path",
        "Instructions that observing adds to a batch",
        ("arm", "observed", "bare", "added a batch", "added us in a tight loop"),
        [[arm, *(f"{value:.4g}" for value in runs[0].values())] for arm, runs in results.items()],
        bars=[
            Bar("us a batch of 1 in a tight loop", results["batch of 1"][0]["added_us"], "at most", 8 + 2),
            Bar("us a batch of 8 in a tight loop", results["batch of 8"][0]["added_us"], "at most", 8 + 16),
        ],
        results=results,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=2000, help="batches of the shorter run (default 2000)")
    parser.add_argument("--child", type=int, nargs=3, help=argparse.SUPPRESS)
    return parser


def _measure(size: int, batches: int) -> Figures:
    observed, bare = (_instructions(size, batches, how) for how in (1, 0))
    added_us = _us_a_batch(size, 1) - _us_a_batch(size, 0)
    return {"observed": observed, "bare": bare, "added": observed - bare, "added_us": added_us}


def _instructions(size: int, batches: int, observed: int) -> float:
    """Return the instructions of one batch."""
    once, twice = (_count(size, number, observed) for number in (batches, 2 * batches))
    return (twice - once) / batches


def _count(size: int, batches: int, observed: int) -> int:
    command = [
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, __file__, "--child",
        str(size), str(batches), str(observed),
    ]  # fmt: skip
    done = subprocess.run(command, env=_fixed(), capture_output=True, text=True, check=True)
    found = _COLLECTED.search(done.stderr)
    if found is None:
        raise SystemExit(f"valgrind told no count:\n{done.stderr}")
    return int(found[1])


def _us_a_batch(size: int, observed: int, batches: int = 100_000) -> float:
    command = [sys.executable, __file__, "--child", str(size), str(batches), str(observed)]
    times = [float(subprocess.check_output(command, env=_fixed(), text=True)) for _ in range(3)]
    return min(times) / batches / 1e3


def _fixed() -> dict[str, str]:
    """Return an environment in which two runs take the same steps."""
    return {**os.environ, "PYTHONHASHSEED": "0", "TRITONSCOPE_RING_BYTES": str(1 << 26)}


def _run(size: int, batches: int, observed: int) -> int:
    """Execute `batches` batches in this process and print the nanoseconds that they took."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITONSCOPE_DIR"] = folder
        import tritonscope  # noqa: PLC0415 - the variable above comes first

        model = (tritonscope.instrument(Model) if observed else Model)()
        model.initialize({"size": size, "model_name": "model"})
        requests = [Request() for _ in range(size)]
        begun_ns = time.perf_counter_ns()
        for _ in range(batches):
            model.execute(requests)
        print(time.perf_counter_ns() - begun_ns)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
