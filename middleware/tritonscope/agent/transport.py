"""What a way to send spans offers, and what a receiver can answer. Knows nothing of HTTP or gRPC."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol


class Fate(Enum):
    """What became of a request."""

    ACCEPTED = "accepted"
    RETRY = "retry"
    REFUSED = "refused"


class Answer(NamedTuple):
    """A receiver's answer, or its absence (RETRY).

    `rejected_spans` counts those that an accepted request lost; `retry_after_s` is the pause that the receiver
    asked for; `reason` is for a person to read.
    """

    fate: Fate
    rejected_spans: int = 0
    retry_after_s: float | None = None
    reason: str = ""


class Transport(Protocol):
    """Sends one request at a time. `where` names the receiver for people."""

    where: str

    def send(self, body: bytes, timeout_s: float) -> Answer:
        """Send an encoded ExportTraceServiceRequest and return what became of it; never raises."""

    def close(self) -> None:
        """Let go of the connection."""
