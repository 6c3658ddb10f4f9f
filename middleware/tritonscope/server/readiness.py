"""Whether a server is ready, and is the one that we started."""

from __future__ import annotations

from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from tritonscope.server.command import HOST, Ports
from tritonscope.server.listeners import family, owner


def ready_pid(root: int, ports: Ports) -> int | None:
    """Return the descendant of process `root` that is ready and owns all three ports, else None."""
    if not _answers_ready(ports.http):
        return None
    # An answer alone proves nothing: another server may hold the port.
    pids = family(root)
    owners = {owner(port, pids) for port in ports}
    return owners.pop() if len(owners) == 1 else None


def _answers_ready(port: int) -> bool:
    with closing(HTTPConnection(HOST, port, timeout=5)) as connection, suppress(OSError, HTTPException):
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == HTTPStatus.OK
    return False
