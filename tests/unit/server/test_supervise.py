"""A supervised server: its environment, its exit code and its signals are its own, whatever the agent does."""

import os
import signal
import subprocess
import sys

import pytest

from tritonscope.errors import RingDirectoryError, UsageError
from tritonscope.server.supervise import observed_environment, supervise

NONE = {"OTEL_TRACES_EXPORTER": "none"}


def test_the_stubs_are_told_to_record_and_where(tmp_path):
    assert observed_environment(tmp_path, {"A": "1"}) == {
        "A": "1", "TRITONSCOPE": "1", "TRITONSCOPE_DIR": str(tmp_path),
    }  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), [("pass", 0), ("exit(7)", 7)])
def test_the_exit_code_is_the_servers(tmp_path, code, expected):
    assert supervise([sys.executable, "-c", code], tmp_path, None).exit_code == expected


def test_a_server_that_was_killed_gives_the_shells_code(tmp_path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert supervise([sys.executable, "-c", code], tmp_path, None).exit_code == 128 + signal.SIGKILL


def test_the_agents_counts_come_back(tmp_path, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    # Long enough for the agent to start; it would also be stopped in mid-start.
    wait = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'agent.lock')!r}): time.sleep(0.01)"
    outcome = supervise([sys.executable, "-c", wait], tmp_path, [])
    assert outcome.exit_code == 0
    assert outcome.summary["rings"] == 0


def test_an_agent_that_fails_changes_nothing(tmp_path, capsys):
    outcome = supervise([sys.executable, "-c", "import time; time.sleep(2)"], tmp_path, ["--no-such-option"])
    assert outcome == (0, {})
    assert "ended early" in capsys.readouterr().err


def test_a_command_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no command 'nowhere'"):
        supervise(["nowhere"], tmp_path, None)
    with pytest.raises(UsageError, match="no command given"):
        supervise([], tmp_path, None)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RingDirectoryError, match="cannot be written"):
        supervise(["true"], tmp_path / "file" / "rings", None)


WAITING = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
print("up", flush=True)
signal.pause()
"""


def test_signals_are_passed_on_to_the_server(tmp_path):
    words = [sys.executable, "-m", "tritonscope", "run", "--no-agent", "--dir", str(tmp_path), "--"]
    process = subprocess.Popen(
        [*words, sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **NONE}, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "up\n"
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 9
