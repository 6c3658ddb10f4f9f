"""Encoded spans that wait to be sent: bounded in bytes, the oldest dropped first, every dropped span counted."""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

LIMIT_BYTES = 16 << 20
# Receivers refuse gRPC requests above 4 MiB by default.
REQUEST_BYTES = 1 << 20
LINGER_S = 0.5


class Payload(NamedTuple):
    """An encoded ExportTraceServiceRequest and the number of spans in it."""

    body: bytes
    spans: int


class Backlog:
    """A queue between the thread that reads rings and the one that sends. `put` never blocks."""

    def __init__(
        self, limit_bytes: int = LIMIT_BYTES, request_bytes: int = REQUEST_BYTES, linger_s: float = LINGER_S
    ) -> None:
        self._limit_bytes = limit_bytes
        self._request_bytes = request_bytes
        self._linger_s = linger_s
        self._payloads: deque[Payload] = deque()
        self._bytes = 0
        self._dropped_spans = 0
        self._closed = False
        self._changed = threading.Condition()

    @property
    def dropped_spans(self) -> int:
        """How many spans were dropped so far."""
        with self._changed:
            return self._dropped_spans

    def put(self, payload: Payload) -> None:
        """Add `payload`; drop the oldest ones while there are more than `limit_bytes`."""
        with self._changed:
            self._payloads.append(payload)
            self._bytes += len(payload.body)
            while self._bytes > self._limit_bytes:
                self._dropped_spans += self._pop().spans
            self._changed.notify()

    def take(self) -> Payload | None:
        """Wait for spans and return about one request's worth of them, joined; None when closed and empty.

        It lingers a moment for more to come: a few larger requests cost less than many small ones.
        """
        with self._changed:
            while not self._closed:
                self._changed.wait_for(lambda: self._closed or self._payloads)
                self._changed.wait_for(lambda: self._closed or self._bytes >= self._request_bytes, self._linger_s)
                # What came may have been dropped meanwhile.
                if self._payloads:
                    break
            return self._join() if self._payloads else None

    def close(self) -> None:
        """Let `take` return what is left without lingering, and then None."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def drop_all(self) -> None:
        """Drop, and count, what is left."""
        with self._changed:
            while self._payloads:
                self._dropped_spans += self._pop().spans

    def _join(self) -> Payload:
        taken: list[Payload] = []
        size = 0
        while self._payloads and (not taken or size + len(self._payloads[0].body) <= self._request_bytes):
            taken.append(self._pop())
            size += len(taken[-1].body)
        # Protobuf merges messages that follow one another, so joined requests are one request.
        return Payload(b"".join(payload.body for payload in taken), sum(payload.spans for payload in taken))

    def _pop(self) -> Payload:
        payload = self._payloads.popleft()
        self._bytes -= len(payload.body)
        return payload
