"""`tritonscope agent` as a user runs it: what it prints, its exit codes, its counters, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.unit.agent.otlp_receivers import HttpReceiver, nobody
from tritonscope.agent.counters import AgentCounters
from tritonscope.agent.folder import FolderLock
from tritonscope.cli import main
from tritonscope.cli.agent import _ending_signals
from tritonscope.records import BatchRecord, InstanceRecord, RequestRecord
from tritonscope.ring.writer import RingWriter
from tritonscope.runs import read_run
from tritonscope.settings import log

DOCS = Path(__file__).parents[3] / "docs" / "telemetry.md"
INSTANCE = InstanceRecord("decode", "3", "decode_0_0", pid=42, span_seed=7)


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No settings from outside, and no log handler left behind."""
    for name in [*os.environ]:
        if name.startswith(("OTEL_", "TRITONSCOPE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    handlers, level = log.handlers[:], log.level
    yield
    log.handlers[:], log.level = handlers, level


@pytest.fixture
def receiver():
    made = HttpReceiver()
    yield made
    made.close()


@pytest.fixture
def writer(tmp_path):
    ring = RingWriter(tmp_path / "rings" / "decode.ring", INSTANCE)
    ring.write(BatchRecord(0, 1000, 300, 5, (RequestRecord("a"),)))
    yield ring
    ring.close()


@pytest.fixture
def agent(tmp_path):
    """Run the command in this process, which must keep its priority."""
    return lambda *words: main(["agent", "--dir", str(tmp_path / "rings"), "--nice", "0", *words])


def test_once_sends_what_is_there_and_writes_the_counters(tmp_path, writer, receiver, agent, monkeypatch, capsys):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
    summary = tmp_path / "summary.json"
    assert agent("--once", "--summary-file", str(summary)) == 0
    assert len(receiver.received.get(timeout=10).spans) == 3
    assert json.loads(summary.read_text()) == AgentCounters(spans_sent=3, batches=1, requests=1, rings=1)._asdict()
    printed = capsys.readouterr().err
    assert f"sending to {receiver.endpoint}/v1/traces (http/protobuf)" in printed
    assert "3 spans sent" in printed


def test_once_reads_more_than_one_read_returns(tmp_path, writer, agent, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    for sequence in range(1, 3000):
        assert writer.write(BatchRecord(sequence, 1000, 300, 5, ()))
    summary = tmp_path / "summary.json"
    assert agent("--once", "--summary-file", str(summary)) == 0
    assert json.loads(summary.read_text())["batches"] == 3000


def test_without_a_receiver_the_exit_code_is_0_and_the_log_has_one_line(writer, agent, monkeypatch, capsys):
    with nobody() as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        assert agent("--once") == 0
    printed = capsys.readouterr().err
    assert printed.count(f"{endpoint}/v1/traces (") == 2, "where spans go, and that they do not arrive"
    assert "3 spans failed" in printed


def test_a_run_file_is_written_without_any_receiver(tmp_path, writer, agent, monkeypatch, capsys):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert agent("--once", "--run-file", str(tmp_path / "today.jsonl")) == 0
    assert "sending nothing" in capsys.readouterr().err
    assert len(read_run(tmp_path / "today.jsonl").batches["decode_0_0"]) == 1


def test_it_ends_by_itself_when_idle(writer, agent, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert agent("--exit-when-idle-s", "0.01", "--poll-ms", "1") == 0


def test_a_second_agent_ends_with_a_clear_message(tmp_path, agent, capsys):
    lock = FolderLock(tmp_path / "rings")
    assert agent("--once") == 2
    lock.release()
    assert f"another agent (process {os.getpid()}) already reads" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--summary-file", "{tmp}/no/folder/summary.json"],
        ["--run-file", "{tmp}/no/folder/run.jsonl"],
        ["--dir", "{tmp}/file/rings"],
    ],
)
def test_a_path_that_cannot_be_used_is_named(tmp_path, agent, capsys, words):
    (tmp_path / "file").touch()
    path = words[1].format(tmp=tmp_path)
    assert agent("--once", words[0], path) == 2
    assert path in capsys.readouterr().err


def test_certificates_that_are_none_are_named(tmp_path, agent, monkeypatch, capsys):
    (tmp_path / "junk.pem").write_text("junk")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(tmp_path / "junk.pem"))
    assert agent("--once") == 2
    assert "CERTIFICATE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--poll-ms", "0"], ["--exit-when-idle-s", "nan"], ["--poll-ms", "often"], ["--nice", "20"]]
)
def test_a_bad_option_is_refused(agent, words, capsys):
    with pytest.raises(SystemExit) as ended:
        agent("--once", *words)
    assert ended.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["agent", "--help"])
    assert ended.value.code == 0
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318 tritonscope agent" in capsys.readouterr().out


def test_the_documentation_explains_every_counter():
    text = DOCS.read_text()
    assert [name for name in AgentCounters._fields if f"`{name}`" not in text] == []


def test_a_signal_that_comes_twice_does_no_harm():
    """Sent to this thread alone: others of the test run do not block it."""
    with _ending_signals() as wait:
        assert not wait(0.0)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        assert wait(10.0)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    assert not signal.sigpending()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_everything_sent(tmp_path, writer, receiver, number):
    """In a process of its own, with the options that `tritonscope run` uses."""
    summary = tmp_path / "summary.json"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tritonscope",
            "agent",
            "--dir",
            str(tmp_path / "rings"),
            "--summary-file",
            str(summary),
        ],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert len(receiver.received.get(timeout=60).spans) == 3
        writer.write(BatchRecord(1, 2000, 300, 5, (RequestRecord("b"),)))
        process.send_signal(number)
        _, printed = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, printed
    assert json.loads(summary.read_text())["spans_sent"] == 6
