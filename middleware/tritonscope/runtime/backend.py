"""Observes Triton's own classes: BLS calls, senders, what becomes of requests.

Methods are replaced on the C++ classes, so that the user's code and Triton keep handing each other their own
objects. Every observer is guarded; the original is called exactly as the user called ours, once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tritonscope.runtime import calls, senders
from tritonscope.runtime.batch import Position, here
from tritonscope.runtime.guard import guarded

Method = Callable[..., Any]
Wrap = Callable[[Method], Method]

_RESCHEDULE = 2  # TRITONSERVER_REQUEST_RELEASE_RESCHEDULE of tritonserver.h

# (class or module, name of what it has, the original) of all that is replaced.
_originals: list[tuple[Any, str, Method]] = []


def patch_backend(module: ModuleType) -> None:
    """Observe what `module`, Triton's `c_python_backend_utils`, has of classes and functions; each once."""
    for class_name, name, wrap in _WRAPS:
        _replace(getattr(module, class_name, None), name, wrap)
    for name, wrap in _FUNCTION_WRAPS:
        _replace(module, name, wrap)


def _replace(owner: Any, name: str, wrap: Wrap) -> None:
    original = getattr(owner, name, None)
    if original is None or any(known is owner and its == name for known, its, _ in _originals):
        return
    _originals.append((owner, name, original))
    setattr(owner, name, functools.wraps(original)(wrap(original)))


def unpatch_backend() -> None:
    """Give classes and module back what was theirs."""
    while _originals:
        owner, name, original = _originals.pop()
        setattr(owner, name, original)


def _made_request(original: Method) -> Method:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it becomes that method
        trace = _parents_trace(args, kwargs)
        if trace is None:
            original(self, *args, **kwargs)
        else:
            _with_trace(original, self, args, kwargs, trace)
        calls.note_target(self, kwargs.get("model_name", ""), kwargs.get("model_version", -1))

    return __init__


def _with_trace(original: Method, request: Any, args: tuple[Any, ...], kwargs: dict[str, Any], trace: Any) -> None:
    try:
        original(request, *args, **kwargs, trace=trace)
    except TypeError:
        # The message quotes the arguments: the user's mistake must read as if ours was not among them.
        original(request, *args, **kwargs)


@guarded
def _parents_trace(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the trace that a BLS request should join, None if the user chose one or there is none to join.

    A trace lives as long as its request: never beyond `execute`, and for decoupled models not even so long.
    """
    position = here()
    # Triton passes everything by keyword; positional arguments may include a trace.
    if position is None or args or "trace" in kwargs or position.batch.recorder.traits.decoupled:
        return None
    batch = position.batch
    index = _request_behind(position, kwargs.get("request_id", ""))
    if not batch.is_open or not batch.objects or not batch.requests[index].trace_context:
        return None
    return batch.objects[index].trace()


def _request_behind(position: Position, request_id: str) -> int:
    """Return for which of a batch's requests a call is made: as marked, else by the id that it passes on.

    An id that several requests have in common says nothing: then it is the first.
    """
    if position.request >= 0:
        return position.request
    ids = [request.request_id for request in position.batch.requests]
    return ids.index(request_id) if request_id and ids.count(request_id) == 1 else 0


def _called(note_result: Callable[[calls.OpenCall | None, Any], None]) -> Wrap:
    """Return the wrap of a method that calls another model; `note_result` takes what it returned."""

    def wrap(original: Method) -> Method:
        def call_model(self: Any, *args: Any, **kwargs: Any) -> Any:
            call = calls.begin_call(self)
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                calls.fail_call(call, error)
                raise
            note_result(call, result)
            return result

        return call_model

    return wrap


def _next_response(original: Method) -> Method:
    def __next__(self: Any) -> Any:  # noqa: N807 - it becomes that method
        try:
            response = original(self)
        except StopIteration:
            calls.note_response(self, None)
            raise
        calls.note_response(self, response)
        return response

    return __next__


def _get_response_sender(original: Method) -> Method:
    def get_response_sender(self: Any) -> Any:
        sender = original(self)
        senders.note_sender(self, sender)
        return sender

    return get_response_sender


def _send(original: Method) -> Method:
    def send(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = args[0] if args else kwargs.get("response")
        flags = args[1] if len(args) > 1 else kwargs.get("flags", 0)
        output_bytes = senders.bytes_to_send(self, response)
        sent_ns = senders.now_ns()
        result = original(self, *args, **kwargs)
        senders.note_sent(self, sent_ns, response, flags, output_bytes)
        return result

    return send


def _is_cancelled(note: Callable[[Any, str], None]) -> Wrap:
    """Return the wrap of a method that tells whether a request, or the one that a sender answers, is cancelled."""

    def wrap(original: Method) -> Method:
        def is_cancelled(self: Any) -> Any:
            answer = original(self)
            if answer:
                note(self, "cancelled")
            return answer

        return is_cancelled

    return wrap


def _operated(name: str) -> Wrap:
    """Return the wrap of a function that does something, `name`, to another model."""

    def wrap(original: Method) -> Method:
        def operate(*args: Any, **kwargs: Any) -> Any:
            operation = calls.begin_operation(name, args[0] if args else kwargs.get("model_name", ""))
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                calls.fail_call(operation, error)
                raise
            calls.end_operation(operation)
            return result

        return operate

    return wrap


def _set_release_flags(original: Method) -> Method:
    def set_release_flags(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        flags = args[0] if args else kwargs.get("flags")
        if flags == _RESCHEDULE:
            senders.note_fate(self, "rescheduled")
        return result

    return set_release_flags


_WRAPS: tuple[tuple[str, str, Wrap], ...] = (
    ("InferenceRequest", "__init__", _made_request),
    ("InferenceRequest", "exec", _called(calls.end_call)),
    ("InferenceRequest", "async_exec", _called(calls.follow_future)),
    ("InferenceRequest", "get_response_sender", _get_response_sender),
    ("InferenceRequest", "is_cancelled", _is_cancelled(senders.note_fate)),
    ("InferenceRequest", "set_release_flags", _set_release_flags),
    ("InferenceResponseSender", "is_cancelled", _is_cancelled(senders.note_sender_fate)),
    ("InferenceResponseSender", "send", _send),
    ("ResponseIterator", "__next__", _next_response),
)

# Functions of the module itself. Triton hands them on to the model's own module after it has imported that.
_FUNCTION_WRAPS: tuple[tuple[str, Wrap], ...] = (
    ("load_model", _operated("load")),
    ("unload_model", _operated("unload")),
)
