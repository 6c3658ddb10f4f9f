"""A model's hooks besides `execute`, and what it does outside of any batch: how long it took and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

from tritonscope.probes.clocks import StageClock
from tritonscope.ring.layout import State
from tritonscope.runtime.guard import guarded
from tritonscope.runtime.recorder import Recorder, text_of

_NOT_READY = "not ready"


class OpenHook:
    """A hook that runs; when it has ended, its instance is in `state`, or in none other than before."""

    def __init__(self, recorder: Recorder, name: str, state: State | None = None) -> None:
        self._recorder = recorder
        self._name = name
        self._state = state
        self._clock = StageClock()
        self._clock.start()

    def end(self, error: str = "") -> None:
        """Record it."""
        self._recorder.lifecycle(self._name, self._clock, error, self._state)


@guarded
def begin_hook(recorder: Recorder | None, name: str, state: State | None = None) -> OpenHook | None:
    """Note that a hook begins; None where nobody is there to note it."""
    return None if recorder is None else OpenHook(recorder, name, state)


def lived(hook: OpenHook | None, call: Callable[[], Any]) -> Any:
    """Call the user's `initialize` or `finalize` and note how it ended."""
    try:
        result = call()
    except BaseException as error:
        _end(hook, text_of(error))
        raise
    _end(hook)
    return result


def asked(hook: OpenHook | None, call: Callable[[], Any]) -> Any:
    """Call the user's `is_ready`, which may be a coroutine function, and note what it said.

    Triton asks at any time and on a thread of its own, from server 26.03 on.
    """
    try:
        answer = call()
    except BaseException as error:
        _end(hook, text_of(error))
        raise
    if isinstance(answer, CoroutineType):
        return _awaited(hook, answer)
    _end(hook, "" if answer else _NOT_READY)
    return answer


async def _awaited(hook: OpenHook | None, coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        answer = await coroutine
    except BaseException as error:
        _end(hook, text_of(error))
        raise
    _end(hook, "" if answer else _NOT_READY)
    return answer


@guarded
def _end(hook: OpenHook | None, error: str = "") -> None:
    if hook is not None:
        hook.end(error)
