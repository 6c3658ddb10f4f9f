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
from tritonscope.runtime.batch import here
from tritonscope.runtime.guard import guarded

Method = Callable[..., Any]
Wrap = Callable[[Method], Method]

_RESCHEDULE = 2  # TRITONSERVER_REQUEST_RELEASE_RESCHEDULE of tritonserver.h

# (class, name of a method, the original) of all that is replaced.
_originals: list[tuple[type, str, Method]] = []


def patch_backend(module: ModuleType) -> None:
    """Observe the classes of `module`, Triton's `c_python_backend_utils`, where it has them; once."""
    if _originals:
        return
    for class_name, name, wrap in _WRAPS:
        cls = getattr(module, class_name, None)
        original = getattr(cls, name, None)
        if cls is not None and original is not None:
            _originals.append((cls, name, original))
            setattr(cls, name, functools.wraps(original)(wrap(original)))


def unpatch_backend() -> None:
    """Give the classes back their methods."""
    while _originals:
        cls, name, original = _originals.pop()
        setattr(cls, name, original)


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
    if not batch.is_open or not batch.objects or not batch.requests[0].trace_context:
        return None
    return batch.objects[0].trace()


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
        sent_ns = senders.now_ns()
        result = original(self, *args, **kwargs)
        response = args[0] if args else kwargs.get("response")
        flags = args[1] if len(args) > 1 else kwargs.get("flags", 0)
        senders.note_sent(self, sent_ns, response, flags)
        return result

    return send


def _is_cancelled(original: Method) -> Method:
    def is_cancelled(self: Any) -> Any:
        answer = original(self)
        if answer:
            senders.note_fate(self, "cancelled")
        return answer

    return is_cancelled


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
    ("InferenceRequest", "is_cancelled", _is_cancelled),
    ("InferenceRequest", "set_release_flags", _set_release_flags),
    ("InferenceResponseSender", "send", _send),
    ("ResponseIterator", "__next__", _next_response),
)
