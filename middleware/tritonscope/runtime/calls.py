"""Calls of other models out of a batch (BLS): what was called, for how long, what came back."""

from __future__ import annotations

import time
import weakref
from typing import Any

from tritonscope.records import CallRecord
from tritonscope.runtime.batch import Position, here
from tritonscope.runtime.guard import guarded

# Request -> (model, version): the C++ object does not tell whom it is for.
_targets: weakref.WeakKeyDictionary[Any, tuple[str, str]] = weakref.WeakKeyDictionary()
# The calls of decoupled models whose responses are still being taken.
_streams: weakref.WeakKeyDictionary[Any, OpenCall] = weakref.WeakKeyDictionary()


class OpenCall:
    """A call that has not ended. It ends once, however often it is told to."""

    __slots__ = ("_ended", "_number", "_position", "_start_ns", "_target", "responses")

    def __init__(self, position: Position, target: tuple[str, str]) -> None:
        self._position = position
        self._target = target
        self._number = next(position.batch.numbers)
        self._ended = False
        self.responses = 0
        self._start_ns = time.monotonic_ns()

    def end(self, error: str = "") -> None:
        """Record the call."""
        if self._ended:
            return
        self._ended = True
        batch = self._position.batch
        model, version = self._target
        wall_ns = time.monotonic_ns() - self._start_ns
        batch.recorder.add(
            batch,
            CallRecord(
                self._number, self._position.parent, model, version, self._start_ns, wall_ns, self.responses, error
            ),
        )


@guarded
def note_target(request: Any, model: str, version: int | str) -> None:
    """Note whom an InferenceRequest that the user made is for; a version of -1 lets Triton choose."""
    _targets[request] = (model, "" if str(version) == "-1" else str(version))


@guarded
def begin_call(request: Any) -> OpenCall | None:
    """Return the call that is about to be made with `request`, None outside of a batch."""
    position = here()
    return None if position is None else OpenCall(position, _targets.get(request, ("unknown", "")))


@guarded
def end_call(call: OpenCall | None, result: Any) -> None:
    """Note what a call came back with: a response, or an iterator that will give the responses."""
    if call is None:
        return
    if not hasattr(result, "has_error"):
        _follow(call, result)
        return
    call.responses = 1
    call.end(_error(result))


@guarded
def fail_call(call: OpenCall | None, error: BaseException) -> None:
    """Note that a call raised."""
    if call is not None:
        call.end(f"{type(error).__name__}: {error}")


@guarded
def follow_future(call: OpenCall | None, future: Any) -> None:
    """End the call when `future` is done; the future stays the user's."""
    if call is not None:
        future.add_done_callback(lambda done: _end_by_future(call, done))


@guarded
def note_response(iterator: Any, response: Any) -> None:
    """Note that an iterator gave `response`, or with None that it has no more."""
    call = _streams.get(iterator)
    if call is None:
        return
    if response is None:
        call.end()
        return
    call.responses += 1
    if response.has_error():
        call.end(_error(response))


@guarded
def _end_by_future(call: OpenCall, future: Any) -> None:
    if future.cancelled():
        call.end("cancelled")
        return
    # exception() would mark the exception as seen and silence asyncio's warning about one that nobody saw.
    error = future._exception  # noqa: SLF001 - see above
    if error is not None:
        fail_call(call, error)
    else:
        end_call(call, future.result())


def _follow(call: OpenCall, iterator: Any) -> None:
    _streams[iterator] = call
    # A model may drop the iterator before its end.
    weakref.finalize(iterator, guarded(call.end))


def _error(response: Any) -> str:
    return str(response.error().message()) if response.has_error() else ""
