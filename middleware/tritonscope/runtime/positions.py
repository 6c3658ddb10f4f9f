"""Going into a part of a batch and out of it again; `tritonscope.for_request` goes into what one request needs."""

from __future__ import annotations

from contextvars import Token
from types import TracebackType
from typing import Any

import msgspec

from tritonscope.runtime import otel_bridge
from tritonscope.runtime.batch import Position, current
from tritonscope.runtime.guard import guarded
from tritonscope.runtime.senders import addressee_of


class Entered(msgspec.Struct, frozen=True):
    """What leads back out."""

    token: Token[Position | None]
    theirs: Any


def enter(position: Position | None) -> Entered:
    """Make `position` that of the code that runs from here on, in this thread or task."""
    return Entered(current.set(position), None if position is None else otel_bridge.attach(position))


def leave(entered: Entered) -> None:
    """Go back to where `enter` was called."""
    if entered.theirs is not None:
        otel_bridge.detach(entered.theirs)
    current.reset(entered.token)


class for_request:  # noqa: N801 - reads as a statement: `with for_request(request):`
    """Says which request of the batch the code inside works for, on any thread and in any task.

    Stages and calls of other models then belong to that request's own trace. Worth its line in models that get
    several requests at once and treat them one by one; with a single request there is nothing to tell apart.
    Does nothing where the model is not observed. It never raises, and it hides no exception.

        for request in requests:
            with tritonscope.for_request(request):
                responses.append(self.answer(request))
    """

    __slots__ = ("_entered", "_request")

    def __init__(self, request: Any) -> None:
        self._request = request
        self._entered: list[Entered | None] = []

    def __enter__(self) -> for_request:
        self._entered.append(_enter_request(self._request))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _leave_request(self._entered.pop())


@guarded
def _enter_request(request: Any) -> Entered | None:
    addressee = addressee_of(request)
    if addressee is None:
        return None
    batch, index = addressee
    around = current.get()
    # A stage around belongs to the whole batch and its trace; with one request, that trace is the request's.
    alone = len(batch.requests) == 1 and around is not None and around.batch is batch
    return enter(Position(batch, around.parent if alone and around else 0, index))


@guarded
def _leave_request(entered: Entered | None) -> None:
    if entered is not None:
        leave(entered)
