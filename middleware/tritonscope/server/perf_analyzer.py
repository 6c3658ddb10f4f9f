"""Lets NVIDIA's perf_analyzer make the load, and reads the CSV that it exports."""

from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tritonscope.errors import ServerError, UsageError
from tritonscope.evidence import LoadReport

# Parts of a request as perf_analyzer sees it, in microseconds; they add up to its mean latency.
_PARTS = (
    "Client Send", "Network+Server Send/Recv", "Server Queue", "Server Compute Input", "Server Compute Infer",
    "Server Compute Output", "Client Recv",
)  # fmt: skip


def run_perf_analyzer(
    url: str, model: str, *, concurrency: int = 0, rate_per_s: float = 0.0, duration_s: float = 10.0
) -> LoadReport:
    """Run perf_analyzer on `model` at the gRPC address `url` and return what it saw.

    Raises:
        UsageError: perf_analyzer is not installed.
        ServerError: it failed.
    """
    program = shutil.which("perf_analyzer")
    if program is None:
        raise UsageError("there is no perf_analyzer on PATH: 'pip install perf-analyzer', or leave the option out")
    level = f"--request-rate-range={rate_per_s:g}" if rate_per_s else f"--concurrency-range={concurrency}"
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as scratch:
        export = Path(scratch, "perf_analyzer.csv")
        words = [program, "-m", model, "-u", url, "-i", "grpc", level, "-p", str(int(duration_s * 1000))]
        done = subprocess.run(
            [*words, "-f", str(export), "--verbose-csv"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or not export.exists():
            said = (done.stderr or done.stdout).strip().splitlines()[-3:]
            raise ServerError(f"perf_analyzer failed (exit code {done.returncode}): {' '.join(said)}")
        return parse_csv(export.read_text(), model, int(duration_s * 1e9))[0]


def parse_csv(text: str, model: str, window_ns: int) -> list[LoadReport]:
    """Return one report a row of perf_analyzer's CSV, whose window lasted `window_ns`.

    The export holds rates and percentiles but no counts and no maximum: requests follow from rate and window,
    the maximum is given as 0 and failures as 0.

    Raises:
        UsageError: the text is no such export.
    """
    table = text.lstrip().split("\n\n")[0]
    try:
        reports = [_report(row, model, window_ns) for row in csv.DictReader(table.splitlines())]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"this is no CSV export of perf_analyzer (column or value {error})") from None
    if not reports:
        raise UsageError("this CSV export of perf_analyzer holds no measurement")
    return reports


def _report(row: Mapping[str, str], model: str, window_ns: int) -> LoadReport:
    mean_us = float(row["Avg latency"]) if "Avg latency" in row else sum(float(row[part]) for part in _PARTS)
    return LoadReport(
        model=model,
        window_ns=window_ns,
        requests=round(float(row["Inferences/Second"]) * window_ns / 1e9),
        failures=0,
        latency_mean_ns=round(mean_us * 1000),
        latency_p50_ns=_percentile_ns(row, 50),
        latency_p90_ns=_percentile_ns(row, 90),
        latency_p95_ns=_percentile_ns(row, 95),
        latency_p99_ns=_percentile_ns(row, 99),
        latency_max_ns=0,
        concurrency=int(row.get("Concurrency") or 0),
        rate_per_s=float(row.get("Request Rate") or 0),
        client="perf_analyzer",
    )


def _percentile_ns(row: Mapping[str, str], percent: int) -> int:
    return round(float(row[f"p{percent} latency"]) * 1000)
