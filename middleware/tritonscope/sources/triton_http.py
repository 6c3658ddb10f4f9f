"""Asks a running Triton over HTTP: its configurations and its statistics."""

from __future__ import annotations

import ipaddress
import time
from types import TracebackType
from typing import Any, TypeVar

import httpx

from tritonscope.errors import ServerUnreachableError, UsageError
from tritonscope.evidence import StatisticsSample
from tritonscope.runs import ConfigLine
from tritonscope.sources.stats_json import read_statistics

_TIMEOUT_S = 10.0

_Document = TypeVar("_Document", dict[str, Any], list[Any])


class TritonHttp:
    """A Triton at `url`, as in `localhost:8000` or `https://triton.example`.

    Every method that asks raises ServerUnreachableError when no Triton answers.

    Raises:
        UsageError: `url` is none.
    """

    def __init__(self, url: str) -> None:
        self.url = (url if "://" in url else f"http://{url}").rstrip("/")
        try:
            self._client = httpx.Client(base_url=self.url, timeout=_TIMEOUT_S, trust_env=False)
        except httpx.InvalidURL as error:
            raise UsageError(f"{url!r} is no url ({error}): give HOST:PORT, for example localhost:8000") from None

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this host: its url is a loopback address."""
        host = self._client.base_url.host
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def ready(self) -> bool:
        """Tell whether the server and all its models are ready."""
        return self._answer("GET", "/v2/health/ready").status_code == httpx.codes.OK

    def statistics(self) -> StatisticsSample:
        """Return the counters of all models now, dated in the middle of the answer's way."""
        before_ns = time.monotonic_ns()
        document = self._ask(dict, "GET", "/v2/models/stats")
        taken_ns = (before_ns + time.monotonic_ns()) // 2
        return read_statistics(document, taken_ns, f"{self.url}/v2/models/stats")

    def configs(self) -> list[ConfigLine]:
        """Return the configuration of every model that is ready, as the server normalised it."""
        index = self._ask(list, "POST", "/v2/repository/index", json={"ready": True})
        names = sorted({str(entry["name"]) for entry in index})
        return [ConfigLine(name, self._ask(dict, "GET", f"/v2/models/{name}/config")) for name in names]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> TritonHttp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, kind: type[_Document], method: str, path: str, **options: Any) -> _Document:
        answer = self._answer(method, path, **options)
        try:
            answer.raise_for_status()
            document = answer.json()
        except (httpx.HTTPStatusError, ValueError):
            document = None
        if not isinstance(document, kind):
            raise self._unreachable(f"{path} answered {answer.status_code}, not Triton's JSON")
        return document

    def _answer(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._client.request(method, path, **options)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(str(error) or type(error).__name__) from None

    def _unreachable(self, why: str) -> ServerUnreachableError:
        return ServerUnreachableError(
            f"no Triton answers at {self.url} ({why}): is the server up, and is this its HTTP port "
            "(8000 by default, not 8001 of gRPC or 8002 of metrics)?"
        )
