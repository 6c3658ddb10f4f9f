"""InferenceResponseSender: sends responses to a request from any thread, the only way for decoupled models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tritonscope.testing.backend.arguments import Parameter, Signature, is_a_or_none, is_uint32
from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.responses import InferenceResponse, prune

FINAL = 1
"""TRITONSERVER_RESPONSE_COMPLETE_FINAL: no further response will follow."""

MODULE = "c_python_backend_utils"
_SEND = Signature(
    "send",
    f"(self: {MODULE}.InferenceResponseSender, response: {MODULE}.InferenceResponse = None, "
    "flags: int = 0) -> None",
    (Parameter("response", is_a_or_none(InferenceResponse), None), Parameter("flags", is_uint32, 0)),
)
Deliver = Callable[[InferenceResponse | None, bool], None]


class SenderState:
    """How many responses a request got, and whether it may get more. Shared by sender and request."""

    def __init__(
        self, decoupled: bool | None, requested: set[str], deliver: Deliver, cancelled: Callable[[], bool]
    ) -> None:
        self.decoupled = decoupled
        self.requested = requested
        self.deliver = deliver
        self.cancelled = cancelled
        self.sent = 0
        self.closed = False
        self.closed_by_sender = False
        self._lock = threading.Lock()

    def count(self, response: InferenceResponse | None, flags: int) -> None:
        """Note that a response goes out.

        Raises:
            TritonModelException: it must not.
        """
        with self._lock:
            reason = self._refusal(response, flags)
            if reason:
                raise TritonModelException(f"Unable to send response. {reason}")
            self.closed = self.closed or flags == FINAL
            self.sent += 1

    def _refusal(self, response: InferenceResponse | None, flags: int) -> str:
        if self.decoupled is None:
            return "Response sender has no reference to the decoupled state of the model."
        if not self.decoupled and response is not None and self.sent:
            return "Non-decoupled model cannot send more than one response."
        if not self.decoupled and response is None and flags == FINAL and not self.sent:
            return "Non-decoupled model cannot send complete final before sending a response."
        return "Response sender has been closed." if self.closed else ""

    def close(self) -> None:
        """Let no further response out."""
        with self._lock:
            self.closed = True


class InferenceResponseSender:
    """Sends responses to one request; made by `InferenceRequest.get_response_sender`."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_state")
    _state: SenderState

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        raise TypeError(f"{MODULE}.InferenceResponseSender: No constructor defined!")

    def send(self, *args: Any, **kwargs: Any) -> None:
        """Send a response, or with flags 1 and no response only the news that there will be no more.

        Raises:
            TritonModelException: the flags are wrong, or no response may be sent any more.
        """
        response, flags = _SEND.bind(args, kwargs, self)
        if flags not in {0, FINAL}:
            raise TritonModelException("Unable to send response. Unsupported flag provided.")
        if flags == 0 and response is None:
            raise TritonModelException(
                "Inference Response object must be provided when the response flags is set to zero."
            )
        self._state.count(response, flags)
        if response is not None:
            prune(response, self._state.requested)
        self._state.closed_by_sender = flags == FINAL
        self._state.deliver(response, flags == FINAL)

    def is_cancelled(self) -> bool:
        """Whether the client has cancelled the request."""
        return self._state.cancelled()


def make_sender(state: SenderState) -> InferenceResponseSender:
    """Return the sender of a request."""
    sender = InferenceResponseSender.__new__(InferenceResponseSender)
    sender._state = state  # noqa: SLF001 - its constructor
    return sender
