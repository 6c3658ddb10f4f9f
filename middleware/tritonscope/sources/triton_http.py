"""Asks a running Triton over HTTP: its configurations and its statistics."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

import httpx

from tritonscope.errors import ServerUnreachableError
from tritonscope.evidence import StatisticsSample
from tritonscope.repository.config import parse_json, to_stage
from tritonscope.repository.stages import Repository
from tritonscope.runs import ConfigLine
from tritonscope.sources.statistics import read_statistics

_TIMEOUT_S = 10.0


class TritonHttp:
    """A Triton at `url`, as in `localhost:8000`. Every method may raise ServerUnreachableError."""

    def __init__(self, url: str) -> None:
        self.url = url.removeprefix("http://").rstrip("/")
        self._client = httpx.Client(base_url=f"http://{self.url}", timeout=_TIMEOUT_S, trust_env=False)

    def statistics(self) -> StatisticsSample:
        """Return the counters of all models now, dated in the middle of the answer's way."""
        before_ns = time.monotonic_ns()
        document = self._ask("GET", "/v2/models/stats")
        return read_statistics(
            document, (before_ns + time.monotonic_ns()) // 2, f"http://{self.url}/v2/models/stats"
        )

    def configs(self) -> list[ConfigLine]:
        """Return the configuration of every model that is ready."""
        index = self._ask("POST", "/v2/repository/index", json={"ready": True})
        names = sorted({entry["name"] for entry in index})
        return [ConfigLine(name, self._ask("GET", f"/v2/models/{name}/config")) for name in names]

    def __enter__(self) -> TritonHttp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        try:
            answer = self._client.request(method, path, **options)
            answer.raise_for_status()
            return answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ServerUnreachableError(
                f"no Triton answers at http://{self.url} ({error}): is the server up, and is this its HTTP port?"
            ) from None


def to_repository(configs: list[ConfigLine]) -> Repository:
    """Return the models of configurations that a server gave."""
    return Repository({line.model: to_stage(parse_json(line.json or {}), line.model) for line in configs})
