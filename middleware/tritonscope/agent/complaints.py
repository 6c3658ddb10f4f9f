"""Says what goes wrong at most once a minute: a receiver that is away must not fill the log."""

from __future__ import annotations

from collections.abc import Callable

from tritonscope.settings import log

INTERVAL_S = 60.0


class Complaints:
    """Logs a warning unless one was logged less than `INTERVAL_S` ago."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._silent_until_s = float("-inf")

    def say(self, message: str) -> None:
        """Log `message`, or keep silent."""
        now_s = self._clock()
        if now_s >= self._silent_until_s:
            self._silent_until_s = now_s + INTERVAL_S
            log.warning("%s", message)
