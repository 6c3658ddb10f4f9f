"""What a caller gets: the responses to one request."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritonscope.testing.traffic import Answer


@dataclass(frozen=True)
class Response:
    """One response: outputs by name, or an error with its code (a name of `TritonError`'s)."""

    outputs: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    error: str = ""
    code: str = ""


@dataclass(frozen=True)
class Result:
    """All responses to one request; a decoupled model may have sent none, or many."""

    responses: tuple[Response, ...]

    @property
    def outputs(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """The outputs of the last response, by name."""
        return self.responses[-1].outputs if self.responses else {}

    @property
    def error(self) -> str:
        """The first error among the responses, '' if there is none."""
        return next((response.error for response in self.responses if response.error), "")

    @property
    def code(self) -> str:
        """The code of that error."""
        return next((response.code for response in self.responses if response.error), "")


class Pending:
    """A request that is under way."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._responses: list[Response] = []
        self._final = False
        self.cancelled = threading.Event()

    def take(self, answer: Answer | None, final: bool) -> None:
        """Take an answer from a model."""
        with self._changed:
            if answer is not None:
                self._responses.append(_response(answer))
            self._final = self._final or final
            self._changed.notify_all()

    def cancel(self) -> None:
        """Tell the model that nobody waits any more; it may look at `is_cancelled()`."""
        self.cancelled.set()

    def result(self, timeout_s: float = 30.0) -> Result:
        """Wait for the last response and return all.

        Raises:
            TimeoutError: it has not come within `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._final, timeout_s):
                raise TimeoutError(
                    f"no final response within {timeout_s} s; so far {len(self._responses)} response(s): "
                    "did the model return None, or forget to send a final flag?"
                )
            return Result(tuple(self._responses))


def _response(answer: Answer) -> Response:
    if answer.failure is None:
        return Response(answer.outputs)
    return Response(error=answer.failure.message, code=answer.failure.code.name)
