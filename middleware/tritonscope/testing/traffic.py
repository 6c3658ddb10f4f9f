"""What passes between models inside an in-process server: calls, answers and failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.statistics import NO_TIMES, Times

Array = np.ndarray[Any, Any]
Parameter = bool | int | float | str

SEQUENCE_START = 1
SEQUENCE_END = 2


@dataclass(frozen=True)
class Failure:
    """Why a request got no tensors."""

    message: str
    code: ErrorCode = ErrorCode.INTERNAL


@dataclass(frozen=True)
class Answer:
    """One response: tensors by name, or a failure; `times` are those of the batch that it comes from."""

    outputs: Mapping[str, Array] = field(default_factory=dict)
    failure: Failure | None = None
    times: Times = NO_TIMES


OnAnswer = Callable[[Answer | None, bool], None]
"""Gets an answer, or None for a final flag alone, and whether it is the last."""


class CallFailedError(Exception):
    """A call cannot be made; becomes the failure that the caller sees."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INTERNAL) -> None:
        super().__init__(message)
        self.failure = Failure(message, code)


@dataclass(eq=False)
class Call:
    """One request to one model, on its way: who asked, with what, and who gets the answers."""

    model: str
    inputs: dict[str, Array]
    on_answer: OnAnswer
    version: int = -1
    requested: tuple[str, ...] = ()
    request_id: str = ""
    correlation_id: int | str = 0
    flags: int = 0
    timeout_us: int = 0
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    trace_context: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    queued_ns: int = field(default_factory=time.monotonic_ns)

    def parameters_json(self) -> str:
        """Return the parameters as models get them: JSON, without spaces."""
        return json.dumps(dict(self.parameters), separators=(",", ":"))

    def batch_size(self, max_batch_size: int) -> int:
        """Return how many elements of a batch this call is."""
        if max_batch_size == 0:
            return 1
        return next((int(array.shape[0]) for array in self.inputs.values()), 1)

    def fail(self, failure: Failure) -> None:
        """Answer with a failure, as the last answer."""
        self.on_answer(Answer(failure=failure), True)  # noqa: FBT003 - OnAnswer has two parameters
