"""The batch that is being worked on, and where in it the running code is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from tritonscope.probes.clocks import StageClock
from tritonscope.records import Detail, RequestRecord

if TYPE_CHECKING:
    from tritonscope.runtime.recorder import Recorder


class OpenBatch:
    """A batch that `execute` is working on, or whose responses are still being sent.

    `objects` are the user's requests, held only until `execute` has ended: a request that is held pins memory.
    `encoded` is `requests` in MessagePack.
    """

    __slots__ = (
        "clock",
        "details",
        "encoded",
        "fates",
        "is_open",
        "numbers",
        "objects",
        "recorder",
        "requests",
        "sequence",
    )

    def __init__(
        self,
        recorder: Recorder,
        sequence: int,
        objects: Sequence[Any],
        requests: list[RequestRecord],
        encoded: bytes,
    ) -> None:
        self.recorder = recorder
        self.sequence = sequence
        self.objects: Sequence[Any] = objects
        self.requests = requests
        self.details: list[Detail] = []
        self.fates: dict[int, str] = {}
        self.encoded = encoded
        self.numbers = itertools.count(1)
        self.is_open = False
        self.clock = StageClock()

    def index_of(self, request: Any) -> int | None:
        """Return which of the batch's requests `request` is, by identity; None if it is none of them."""
        return next((index for index, mine in enumerate(self.objects) if mine is request), None)


class Position(msgspec.Struct, frozen=True):
    """Where in a batch code runs: inside stage `parent`, or directly in `execute` (0).

    `request` is which of the batch's requests it works for, from 0; -1 where that is not known.
    """

    batch: OpenBatch
    parent: int = 0
    request: int = -1


current: ContextVar[Position | None] = ContextVar("tritonscope_position", default=None)

# Appended to and removed from in single operations, which the GIL keeps whole.
_open: list[OpenBatch] = []


def here() -> Position | None:
    """Return where in which batch the caller runs, None outside of any.

    Threads that a model starts do not inherit the context; where only one batch is open they must be its.
    """
    position = current.get()
    if position is not None:
        return position
    return Position(_open[0]) if len(_open) == 1 else None


def opened(batch: OpenBatch) -> None:
    """Note that `batch` begins."""
    _open.append(batch)
    batch.is_open = True


def closed(batch: OpenBatch) -> None:
    """Note that `execute` is done with `batch`, recorded or not, and let go of the user's objects."""
    if batch.is_open:
        _open.remove(batch)
        batch.is_open = False
    batch.objects = ()
