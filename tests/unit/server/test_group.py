"""A process group ends whole: with stubborn members, with members that left it, and when its owner is killed."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope.errors import ServerStartError
from tritonscope.server.group import ProcessGroup

WAIT_MS = 20_000
OWNER = """
import sys, time
from pathlib import Path
from tritonscope.server.group import ProcessGroup
group = ProcessGroup(["/bin/sh", "-c", sys.argv[1]], {"PATH": "/usr/bin:/bin"}, Path(sys.argv[2]), 1)
print(group.pid, flush=True)
time.sleep(600)
"""


def started(tmp_path, text) -> tuple[ProcessGroup, list[int]]:
    """Run `text` in a shell, once it has written its pids."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    environ = {"PATH": os.environ["PATH"], "READY": str(ready)}
    group = ProcessGroup(["/bin/sh", "-c", text], environ, tmp_path / "log", grace_s=1)
    return group, [int(word) for word in ready.read_text().split()]


def has_ended(pid: int) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(WAIT_MS))
    finally:
        os.close(handle)


def test_output_goes_into_the_file_and_the_code_is_returned(tmp_path):
    log = tmp_path / "folder" / "log"
    group = ProcessGroup(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], {}, log, grace_s=1)
    assert group.wait(20) == 3
    group.end()
    assert log.read_text() == "out\nerr\n"


def test_members_that_ignore_the_signal_are_killed(tmp_path):
    group, pids = started(tmp_path, "trap '' TERM; sleep 600 & echo $! $$ > $READY; wait")
    assert group.poll() is None
    group.end()
    assert [has_ended(pid) for pid in pids] == [True, True]


def test_members_that_left_the_group_are_killed(tmp_path):
    group, pids = started(tmp_path, "setsid sh -c 'echo $$ > $READY; exec sleep 600' & wait")
    group.end()
    assert [has_ended(pid) for pid in pids] == [True]


def test_the_group_dies_with_its_owner_even_by_sigkill(tmp_path):
    ignores = "trap '' TERM; sleep 600 & wait"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, ignores, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True
    ) as owner:
        pid = int(owner.stdout.readline())
        owner.kill()
    assert has_ended(pid)


def test_a_program_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ServerStartError, match="/no/such/program cannot be started: No such file"):
        ProcessGroup(["/no/such/program"], {}, tmp_path / "log", grace_s=1)
    assert Path(tmp_path, "log").read_text() == ""
