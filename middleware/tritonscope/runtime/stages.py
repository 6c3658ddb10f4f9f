"""`tritonscope.stage(...)`: a user's own name for a part of `execute`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from tritonscope.probes.clocks import StageClock
from tritonscope.records import StageRecord
from tritonscope.runtime.batch import Position, here
from tritonscope.runtime.guard import guarded
from tritonscope.runtime.positions import enter, leave

Function = TypeVar("Function", bound=Callable[..., Any])

_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE


class OpenStage:
    """A stage that is running."""

    __slots__ = ("clock", "entered", "number", "parent")

    def __init__(self, parent: Position) -> None:
        self.parent = parent
        self.number = next(parent.batch.numbers)
        self.entered = enter(Position(parent.batch, self.number, parent.request))
        self.clock = StageClock()
        self.clock.start()


class stage:  # noqa: N801 - reads as a statement: `with stage("tokenize"):`
    """Times a part of `execute` under `name`: a context manager, or a decorator of functions and coroutines.

    Stages may be nested and may run on several threads and tasks at once. Outside of an observed `execute`, or
    when the model is not observed at all, it does nothing. It never raises, and it hides no exception.

        with tritonscope.stage("tokenize"):
            tokens = tokenize(text)
    """

    __slots__ = ("_name", "_open")

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[OpenStage | None] = []

    def __enter__(self) -> stage:
        self._open.append(_begin())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _end(self._name, self._open.pop(), error)

    def __call__(self, function: Function) -> Function:
        """Return `function` so that each of its calls is a stage."""
        wrap = _timed_coroutine if _is_coroutine_function(function) else _timed
        timed: Function = functools.wraps(function)(wrap(self._name, function))  # type: ignore[assignment]
        return timed


@guarded
def _begin() -> OpenStage | None:
    position = here()
    return None if position is None else OpenStage(position)


@guarded
def _end(name: str, opened: OpenStage | None, error: BaseException | None) -> None:
    if opened is None:
        return
    clock, parent = opened.clock, opened.parent
    clock.stop()
    text = "" if error is None else f"{type(error).__name__}: {error}"
    record = StageRecord(
        opened.number, parent.parent, name, clock.start_ns, clock.wall_ns, clock.cpu_ns, text, parent.request
    )
    parent.batch.recorder.add(parent.batch, record)
    leave(opened.entered)


def _timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with stage(name):
            return function(*args, **kwargs)

    return call


def _timed_coroutine(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with stage(name):
            return await function(*args, **kwargs)

    return call


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return bool(code and code.co_flags & _CO_COROUTINE)
