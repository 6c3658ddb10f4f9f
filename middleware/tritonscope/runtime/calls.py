"""What a model does to other models: calls (BLS), loads, unloads; for how long, and what came back."""

from __future__ import annotations

import time
import weakref
from typing import Any, Protocol

from tritonscope.records import CallRecord
from tritonscope.runtime.batch import Position, here
from tritonscope.runtime.guard import guarded
from tritonscope.runtime.lifecycle import OpenHook
from tritonscope.runtime.recorder import only_recorder

# Request -> (model, version): the C++ object does not tell whom it is for.
_targets: weakref.WeakKeyDictionary[Any, tuple[str, str]] = weakref.WeakKeyDictionary()
# The calls of decoupled models whose responses are still being taken.
_streams: weakref.WeakKeyDictionary[Any, OpenCall] = weakref.WeakKeyDictionary()


class Operation(Protocol):
    """Something that is being done to another model."""

    def end(self, error: str = "") -> None:
        """Record that it ended."""


class OpenCall:
    """A call that has not ended. It ends once, however often it is told to."""

    __slots__ = ("_ended", "_number", "_operation", "_position", "_start_ns", "_target", "responses")

    def __init__(self, position: Position, target: tuple[str, str], operation: str = "") -> None:
        self._position = position
        self._target = target
        self._operation = operation
        self._number = next(position.batch.numbers)
        self._ended = False
        self.responses = 0
        self._start_ns = time.monotonic_ns()

    def end(self, error: str = "") -> None:
        """Record the call."""
        if self._ended:
            return
        self._ended = True
        wall_ns = time.monotonic_ns() - self._start_ns
        position = self._position
        call = CallRecord(
            self._number, position.parent, *self._target, self._start_ns, wall_ns, self.responses, error,
            position.request, self._operation,
        )  # fmt: skip
        position.batch.recorder.add(position.batch, call)


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
def fail_call(call: Operation | None, error: BaseException) -> None:
    """Note that a call raised."""
    if call is not None:
        call.end(f"{type(error).__name__}: {error}")


@guarded
def begin_operation(name: str, model: str) -> Operation | None:
    """Return the operation `name` on `model` that is about to begin; None where nobody is there to note it."""
    position = here()
    if position is not None:
        return OpenCall(position, (model, ""), name)
    recorder = only_recorder()
    return None if recorder is None else OpenHook(recorder, f"{name} {model}")


@guarded
def end_operation(operation: Operation | None) -> None:
    """Note that an operation is over."""
    if operation is not None:
        operation.end()


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
