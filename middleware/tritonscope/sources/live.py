"""Records a running server for a while: its configurations, and what its counters say before and after."""

from __future__ import annotations

from collections.abc import Callable

from tritonscope.runs import RunWriter
from tritonscope.sources.host import sample_host
from tritonscope.sources.triton_http import TritonHttp


def record(server: TritonHttp, writer: RunWriter, wait: Callable[[], None]) -> None:
    """Write what `server` and, if it runs here, this host did while `wait` waits.

    Raises:
        ServerUnreachableError: no Triton answers.
    """
    for config in server.configs():
        writer.write(config)
    _sample(server, writer)
    wait()
    _sample(server, writer)


def _sample(server: TritonHttp, writer: RunWriter) -> None:
    writer.write(server.statistics())
    if server.is_local:
        writer.write(sample_host())
