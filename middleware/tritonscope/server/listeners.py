"""Ports and processes as /proc shows them: free ports, a process's descendants, and who listens where."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tritonscope.server.command import HOST, Ports

_PROC = Path("/proc")
_LISTEN = "0A"  # TCP_LISTEN of include/net/tcp_states.h


def free_ports() -> Ports:
    """Return three ports that nobody listens on at this moment; another process may still take one."""
    sockets = [socket.socket() for _ in Ports._fields]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return Ports(*(one.getsockname()[1] for one in sockets))
    finally:
        for one in sockets:
            one.close()


def family(pid: int) -> dict[int, int]:
    """Return `pid` and its descendants, each with its start time in clock ticks: together they name a process."""
    processes = dict(_processes())
    members: dict[int, int] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        if parent in processes and parent not in members:
            members[parent] = processes[parent][1]
            waiting += [child for child, (its_parent, _) in processes.items() if its_parent == parent]
    return members


def is_running(pid: int, started: int) -> bool:
    """Whether the process that had `pid` and started at `started` is still there, and no zombie."""
    found = _stat(pid)
    return found is not None and found[1] == started and found[2] != "Z"


def owner(port: int, pids: Iterable[int]) -> int | None:
    """Return which of `pids` listens on `port`; None if none of them does, or if a stranger does too."""
    inodes = set(_listening_inodes(port))
    owners = {pid: _socket_inodes(pid) & inodes for pid in pids}
    if not inodes or set().union(*owners.values()) != inodes:
        return None
    return next(pid for pid, own in owners.items() if own)


def _processes() -> Iterator[tuple[int, tuple[int, int]]]:
    for entry in _PROC.iterdir():
        if entry.name.isdecimal() and (found := _stat(int(entry.name))):
            yield int(entry.name), found[:2]


def _stat(pid: int) -> tuple[int, int, str] | None:
    """Parent, start time and state, or None if there is no such process. Source: proc(5)."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The command's name may hold spaces and brackets; what follows its last bracket does not.
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0]


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _socket_inodes(pid: int) -> set[str]:
    inodes = set()
    with suppress(OSError):
        for link in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                target = os.readlink(link)  # noqa: PTH115 - "socket:[1]" is no path
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
    return inodes
