"""What load to put on which model: the plan of a run, before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tritonscope.errors import UsageError
from tritonscope.server.payloads import Payload


class ClosedLoop(NamedTuple):
    """Keep `concurrency` requests in flight."""

    concurrency: int


class OpenLoop(NamedTuple):
    """Send `rate_per_s` requests a second: at random moments (a Poisson process), or evenly.

    At most `max_in_flight` are outstanding; those that wait for a slot age from the moment they were due.
    """

    rate_per_s: float
    poisson: bool = True
    seed: int = 0
    max_in_flight: int = 1024


@dataclass(frozen=True)
class LoadPlan:
    """What to send, how fast, and for how long.

    The window begins after `warmup_s` and ends after `duration_s` seconds or `requests` requests, whichever is
    first. `payloads` are sent in turn. `headers` gives the metadata of each request (e.g. a `traceparent`).
    """

    url: str
    model: str
    payloads: Sequence[Payload]
    loop: ClosedLoop | OpenLoop
    version: str = ""
    warmup_s: float = 2.0
    duration_s: float | None = 10.0
    requests: int | None = None
    request_timeout_s: float = 60.0
    headers: Callable[[], Mapping[str, str]] | None = None

    def check(self) -> None:
        """Return if the plan can be carried out.

        Raises:
            UsageError: it cannot; says why.
        """
        if not self.payloads:
            raise UsageError(f"no request to send to {self.model}")
        if self.duration_s is None and self.requests is None:
            raise UsageError("the load needs an end: a duration, a number of requests, or both")
        if (self.duration_s is not None and self.duration_s <= 0) or (
            self.requests is not None and self.requests < 1
        ):
            raise UsageError("the duration must be above 0 s, and the number of requests 1 or more")
        if isinstance(self.loop, ClosedLoop) and self.loop.concurrency < 1:
            raise UsageError(f"concurrency must be 1 or more, not {self.loop.concurrency}")
        if isinstance(self.loop, OpenLoop) and (self.loop.rate_per_s <= 0 or self.loop.max_in_flight < 1):
            raise UsageError(f"the rate must be above 0 requests a second, not {self.loop.rate_per_s:g}")
