"""Who listens on a port is read from the kernel, so that another server's answer is never taken for ours."""

import os
import socket
import subprocess
import sys

import pytest

from tritonscope.server.listeners import family, free_ports, is_running, owner

LISTENS = """
import socket, sys
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
one.bind(("127.0.0.1", int(sys.argv[1])))
one.listen()
print(one.getsockname()[1], flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def listener():
    """A function that starts a process which listens, and gives its pid and port."""
    started = []

    def start(port=0):
        process = subprocess.Popen(
            [sys.executable, "-c", LISTENS, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process.pid, int(process.stdout.readline())

    yield start
    for process in started:
        process.communicate("\n")


def test_free_ports_differ_and_nobody_listens_there():
    ports = free_ports()
    assert len(set(ports)) == 3
    for port in ports:
        with socket.socket() as one:
            one.bind(("127.0.0.1", port))


def test_the_owner_is_found_among_descendants(listener):
    pid, port = listener()
    assert owner(port, family(os.getpid())) == pid


def test_a_port_of_a_stranger_has_no_owner_among_ours(listener):
    _, port = listener()
    other, _ = listener()
    assert owner(port, [other]) is None


def test_a_port_shared_with_a_stranger_is_not_ours(listener):
    pid, port = listener()
    stranger, _ = listener(port)
    assert owner(port, [pid]) is None
    assert owner(port, [pid, stranger]) in {pid, stranger}


def test_a_port_where_nobody_listens_has_no_owner():
    assert owner(free_ports().http, [os.getpid()]) is None


def test_family_reaches_grandchildren():
    with subprocess.Popen(
        ["/bin/sh", "-c", "sleep 600 & echo $!; read _; kill $!"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        grandchild = int(shell.stdout.readline())
        members = family(os.getpid())
        assert {shell.pid, grandchild} <= set(members)
        shell.stdin.write("\n")
    assert not is_running(shell.pid, members[shell.pid])


def test_another_process_with_the_same_pid_is_not_the_same():
    own = family(os.getpid())[os.getpid()]
    assert is_running(os.getpid(), own)
    assert not is_running(os.getpid(), own + 1)
