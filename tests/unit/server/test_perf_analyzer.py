"""What perf_analyzer exports becomes a report; without it the way out is named."""

import os
import stat
from pathlib import Path

import pytest

from tritonscope.errors import ServerError, UsageError
from tritonscope.server.perf_analyzer import parse_csv, run_perf_analyzer

# From Triton's own documentation of the export.
CSV = """\
Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,\
Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency
1,69.2,225,2148,64,206,11781,19,0,13891,18795,19753,21018
4,84.2,279,1604,33669,233,11731,18,1,47045,56545,59225,64886
"""


@pytest.fixture
def analyzer(tmp_path, monkeypatch):
    """A function that puts a program of that name on PATH, which writes its arguments down."""

    def install(body: str) -> Path:
        program = tmp_path / "perf_analyzer"
        program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\n{body}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return tmp_path / "words"

    return install


def test_each_row_is_a_report():
    first, second = parse_csv(CSV, "m", window_ns=10_000_000_000)
    assert (first.model, first.concurrency, first.requests, first.client) == ("m", 1, 692, "perf_analyzer")
    assert first.latency_mean_ns == (225 + 2148 + 64 + 206 + 11781 + 19) * 1000
    assert (second.latency_p50_ns, second.latency_p99_ns) == (47_045_000, 64_886_000)
    assert second.throughput_per_s == pytest.approx(84.2)


def test_the_mean_of_a_verbose_export_is_its_own():
    lines = CSV.splitlines()
    text = f"{lines[0]},Avg latency\n{lines[1]},14500\n"
    assert parse_csv(text, "m", 1)[0].latency_mean_ns == 14_500_000


def test_other_text_is_refused():
    with pytest.raises(UsageError, match="no CSV export of perf_analyzer"):
        parse_csv("a,b\n1,2\n", "m", 1)
    with pytest.raises(UsageError, match="no measurement"):
        parse_csv(CSV.splitlines()[0], "m", 1)


def test_the_program_is_asked_for_the_level_and_read(analyzer):
    words = analyzer(f'while [ "$1" != "-f" ]; do shift; done\ncat > "$2" <<END\n{CSV}END')
    report = run_perf_analyzer("host:8001", "m", concurrency=4, duration_s=5)
    assert report.requests == 346
    said = words.read_text()
    assert all(word in said for word in ("-m m", "-u host:8001", "-i grpc", "--concurrency-range=4", "-p 5000"))
    run_perf_analyzer("host:8001", "m", rate_per_s=20.0)
    assert "--request-rate-range=20 " in words.read_text()


def test_its_failure_is_told_in_its_words(analyzer):
    analyzer("echo 'failed to get model metadata' >&2; exit 99")
    with pytest.raises(ServerError, match=r"exit code 99\): failed to get model metadata"):
        run_perf_analyzer("host:8001", "m", concurrency=1)


def test_without_it_the_way_out_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="pip install perf-analyzer"):
        run_perf_analyzer("host:8001", "m", concurrency=1)
