"""The frame of every benchmark: arms measured in turn, medians with their spread, bars, and one saved result.

A benchmark defines its arms, hands them to `interleave`, compares them with `ratios`, and ends with `publish`,
whose last printed line is `bars: N of M held`; its exit code is 0 only when all held.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("tritonscope", "msgspec", "numpy", "tritonclient", "grpcio", "opentelemetry-sdk")

Figures = Mapping[str, float]
Rounds = dict[str, list[Figures]]


class Arm(NamedTuple):
    """One of the things compared; `measure` makes one run and returns its figures by name."""

    name: str
    measure: Callable[[], Figures]


class Spread(NamedTuple):
    """A figure over the rounds."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of one value a round."""
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.4g} ({self.least:.4g} - {self.most:.4g})"


class Bar(NamedTuple):
    """What a figure must reach."""

    name: str
    measured: float
    kind: Literal["at least", "at most"]
    bound: float

    @property
    def held(self) -> bool:
        """Whether the figure is on the right side of its bound."""
        return self.measured >= self.bound if self.kind == "at least" else self.measured <= self.bound


def interleave(arms: Sequence[Arm], rounds: int, warmups: int = 1, seed: int = 1) -> Rounds:
    """Measure every arm once a round, in an order drawn anew each round; return the figures by arm.

    A machine's speed drifts: arms measured minutes apart cannot be compared, neighbours can.
    """
    order = random.Random(seed)  # noqa: S311 - no secret, an order
    results: Rounds = {arm.name: [] for arm in arms}
    for number in range(warmups + rounds):
        counted = number >= warmups
        for arm in order.sample(list(arms), len(arms)):
            _say(f"{'round ' + str(number - warmups + 1) if counted else 'warm-up'} of {rounds}: {arm.name}")
            figures = arm.measure()
            if counted:
                results[arm.name].append(figures)
    return results


def spread(results: Rounds, arm: str, figure: str) -> Spread:
    """Return one figure of one arm over the rounds."""
    return Spread.of([figures[figure] for figures in results[arm]])


def ratios(results: Rounds, figure: str, arm: str, base: str) -> Spread:
    """Return `arm` / `base` in `figure`, taken round by round."""
    pairs = zip(results[arm], results[base], strict=True)
    return Spread.of([mine[figure] / theirs[figure] for mine, theirs in pairs])


def publish(
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    bars: Sequence[Bar],
    results: Rounds,
) -> int:
    """Print the table and the bars, save everything as JSON, and return the exit code."""
    _print_table(title, columns, rows)
    for bar in bars:
        verdict = "held" if bar.held else "NOT held"
        print(f"  {bar.name}: {bar.measured:.4g}, {bar.kind} {bar.bound:.4g}: {verdict}")
    held = sum(bar.held for bar in bars)
    _save(name, {
        "benchmark": name, "command": " ".join(["python", *sys.argv]), "title": title, "machine": machine(),
        "columns": list(columns), "rows": [[str(cell) for cell in row] for row in rows],
        "bars": [{**bar._asdict(), "held": bar.held} for bar in bars],
        "rounds": {arm: [dict(figures) for figures in runs] for arm, runs in results.items()},
    })  # fmt: skip
    print(f"bars: {held} of {len(bars)} held")
    return 0 if held == len(bars) else 1


def machine() -> dict[str, object]:
    """Return what a reader must know to compare figures: processor, cores, kernel, versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {package: _version(package) for package in _PACKAGES},
        "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def _print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table(title=title)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _save(name: str, document: Mapping[str, object]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
