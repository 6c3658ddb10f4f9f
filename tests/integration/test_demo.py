"""The demo names the throttle on the real server, whatever becomes of the agent and of the spans."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tritonscope.cli import demo, main
from tritonscope.errors import UnsupportedHostError
from tritonscope.runs import read_run

pytestmark = pytest.mark.server

COMMAND = [sys.executable, "-m", "tritonscope", "demo", "--duration", "4"]


def environment(**added):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {**kept, "COLUMNS": "200", **added}


def start(run_file, **added):
    return subprocess.Popen(
        [*COMMAND, "--run-file", str(run_file)], env=environment(**added), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_it_names_the_throttle_the_gain_and_the_spans(tmp_path):
    process = start(tmp_path / "run.jsonl")
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    verdict = re.search(r"decode throttles image_pipeline: 1 instance, busy (\S+), its queue is (\d+)%", output)
    assert verdict, output
    assert float(verdict[1].rstrip(",")) >= 0.9
    assert int(verdict[2]) > 50
    # Beside other work on all cores there is nothing to buy, and the verdict says that instead.
    assert re.search(r"count: 2 would buy|the CPU \(\d+ cores\) binds", output)
    sent, received = re.search(
        r"spans: (\d+) sent, 0 not delivered; the demo's own receiver got (\d+)", output
    ).groups()
    run = read_run(tmp_path / "run.jsonl")
    batches = [batch for of_instance in run.batches.values() for batch in of_instance]
    # Of each batch its own span, that of execute and one for each request; and each model's hooks.
    hooks = int(sent) - sum(len(batch.requests) + 2 for batch in batches)
    assert sent == received
    assert 0 < hooks <= 6
    assert run.loads[0].failures == 0


def test_the_saved_run_gives_the_same_verdict_again(tmp_path, capsys):
    process = start(tmp_path / "run.jsonl")
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert main(["analyze", str(tmp_path / "run.jsonl")]) == 0
    assert "decode throttles image_pipeline" in capsys.readouterr().out


def agent_of(demo_pid, timeout_s=60):
    """The pid of the agent that belongs to this demo, once it runs and the load has begun."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if "agent" in words and f"{demo_pid}.jsonl" in " ".join(words):
                return int(entry.name)
        time.sleep(0.1)
    raise AssertionError("no agent was started")


def test_with_the_agent_killed_no_request_fails(tmp_path):
    process = start(tmp_path / "killed.jsonl")
    agent = agent_of("killed")
    os.kill(agent, signal.SIGKILL)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert re.search(r"[1-9]\d* requests, 0 failed", output)
    assert "decode throttles image_pipeline" in output
    assert "the agent ended early" in output


def test_without_a_receiver_no_request_fails(tmp_path):
    process = start(tmp_path / "run.jsonl", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert re.search(r"[1-9]\d* requests, 0 failed", output)
    assert re.search(r"spans: 0 sent, [1-9]\d* not delivered: is there a receiver", output)


def test_where_no_server_runs_the_first_line_says_so(tmp_path, capsys, monkeypatch):
    def check_host():
        raise UnsupportedHostError("the packaged server needs Linux on x86-64")

    monkeypatch.setattr(demo, "check_host", check_host)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["demo", "--duration", "2", "--run-file", str(tmp_path / "run.jsonl")]) == 0
    output = capsys.readouterr().out
    first = output.splitlines()[0]
    assert (
        first
        == "No real Triton here, an in-process imitation of it instead: the packaged server needs Linux on x86-64"
    )
    assert "decode throttles image_pipeline" in output
