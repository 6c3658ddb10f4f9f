"""InferenceResponse, and the iterator over the responses of a decoupled model that was called by BLS."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tritonscope.testing.backend.arguments import (
    MODULE,
    Parameter,
    Signature,
    is_a,
    is_a_or_none,
    is_list_of,
)
from tritonscope.testing.backend.errors import TritonError, TritonModelException
from tritonscope.testing.backend.tensors import Tensor

_INIT = Signature(
    "__init__",
    f"{MODULE}.InferenceResponse(output_tensors: List[{MODULE}.Tensor] = [], error: {MODULE}.TritonError = None)",
    (
        Parameter("output_tensors", is_list_of(is_a_or_none(Tensor)), ()),
        Parameter("error", is_a_or_none(TritonError), None),
    ),
)


class InferenceResponse:
    """What a model answers to one request: tensors, or an error."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_error", "_final", "_outputs")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        outputs, error = _INIT.bind(args, kwargs)
        if any(output is None for output in outputs):
            raise TritonModelException("Output tensor for inference response should not be empty.")
        self._outputs: list[Tensor] = list(outputs)
        self._error: TritonError | None = error
        self._final = True

    def output_tensors(self) -> list[Tensor]:
        """Return the output tensors."""
        return list(self._outputs)

    def has_error(self) -> bool:
        """Whether this is an error."""
        return self._error is not None

    def error(self) -> TritonError | None:
        """Return the error, None if there is none."""
        return self._error


def make_response(outputs: list[Tensor], error: TritonError | None, *, final: bool) -> InferenceResponse:
    """Return a response as the backend makes them for BLS callers; `final` says that none will follow."""
    response = InferenceResponse.__new__(InferenceResponse)
    response._outputs, response._error, response._final = outputs, error, final  # noqa: SLF001 - its other constructor
    return response


def prune(response: InferenceResponse, requested: set[str]) -> None:
    """Take the outputs that nobody requested out of the response, in place, as sending it does."""
    response._outputs = [tensor for tensor in response._outputs if tensor.name() in requested]  # noqa: SLF001


_ITERATE = Signature(
    "__init__",
    f"{MODULE}.ResponseIterator(arg0: {MODULE}.InferenceResponse)",
    (Parameter("arg0", is_a(InferenceResponse)),),
)


class ResponseIterator:
    """Yields responses as they come. Once it has ended, iterating again yields them all anew."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_arrived", "_changed", "_finished", "_next", "_seen")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        (first,) = _ITERATE.bind(args, kwargs)
        self._start()
        self._push(first)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._arrived: deque[InferenceResponse] = deque()
        self._seen: list[InferenceResponse] = []
        self._finished = False
        self._next = 0

    def _push(self, response: InferenceResponse) -> None:
        with self._changed:
            self._arrived.append(response)
            self._changed.notify()

    def __iter__(self) -> ResponseIterator:
        if self._finished and self._next >= len(self._seen):
            self._next = 0
        return self

    def __next__(self) -> InferenceResponse:
        if self._finished:
            return self._again()
        with self._changed:
            self._changed.wait_for(lambda: self._arrived)
            response = self._arrived.popleft()
        self._seen.append(response)
        if response._final:  # noqa: SLF001 - the backend's side of InferenceResponse
            self._finished = True
            self._next = len(self._seen)
        return response

    def _again(self) -> InferenceResponse:
        if self._next >= len(self._seen):
            raise StopIteration("Iteration is done for the responses.")
        self._next += 1
        return self._seen[self._next - 1]


def make_iterator() -> tuple[ResponseIterator, Any]:
    """Return an iterator without responses yet, and the function that gives it one."""
    iterator = ResponseIterator.__new__(ResponseIterator)
    iterator._start()  # noqa: SLF001 - its other constructor
    return iterator, iterator._push  # noqa: SLF001
