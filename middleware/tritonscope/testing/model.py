"""LoadedModel: one instance of a Python model, from import to finalize, as its stub process runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tritonscope.testing.backend.host import Host, LogLine, StubState, forget, register, running
from tritonscope.testing.backend.requests import (
    InferenceRequest,
    RequestFields,
    is_rescheduled,
    make_request,
    state_of,
)
from tritonscope.testing.backend.responses import InferenceResponse
from tritonscope.testing.backend.senders import SenderState
from tritonscope.testing.backend.tensors import received_tensor, sent_array
from tritonscope.testing.backend.trace import make_trace
from tritonscope.testing.eventloop import EventLoop
from tritonscope.testing.loading import described, import_entry, stack_of
from tritonscope.testing.returned import checked_responses
from tritonscope.testing.spec import InstanceSpec
from tritonscope.testing.traffic import Answer, Call, CallFailedError, Failure

Returned = tuple[tuple[Call, Answer], ...]
"""The responses that `execute` returned, each with whom it is for; what senders sent is on its way already."""


class Executed(NamedTuple):
    """How a batch ended: why it failed and for whom, what is to be answered, and which calls come again."""

    failure: str = ""
    failed: tuple[Call, ...] = ()
    returned: Returned = ()
    again: tuple[Call, ...] = ()


class LoadedModel:
    """An object of a model's `TritonPythonModel`, and the calls that Triton makes on it.

    Args:
        spec: Which instance it is.
        host: The server that it belongs to.

    Raises:
        CallFailedError: the file cannot be imported, or `initialize` raised; with the server's text.
    """

    def __init__(self, spec: InstanceSpec, host: Host) -> None:
        self.spec = spec
        self._stub = StubState(spec.name, str(spec.file.parent), host, decoupled=spec.decoupled)
        self._loop = EventLoop(self._stub)
        register(self._stub)
        try:
            with running(self._stub):
                self._model = described(self._create)
        except CallFailedError:
            forget(self._stub)
            raise
        self._stub.initialized = True

    @property
    def instance(self) -> Any:
        """The user's object."""
        return self._model

    def _create(self) -> Any:
        entry = import_entry(self.spec.file)
        model = entry()
        if hasattr(model, "initialize"):
            model.initialize(self.spec.arguments())
        return model

    def requests(self, calls: Sequence[Call]) -> list[InferenceRequest]:
        """Return the calls as `execute` gets them, with copies of their inputs."""
        return [self._request(call) for call in calls]

    def execute(self, calls: Sequence[Call], requests: list[InferenceRequest]) -> Executed:
        """Run one batch, `requests` being those of `calls`. What fails the whole batch comes back as a text."""
        try:
            with running(self._stub):
                responses = described(lambda: self._run(requests))
        except CallFailedError as error:
            message = (
                f"Failed to process the request(s) for model '{self.spec.name}', message: {error.failure.message}"
            )
            self._stub.host.log(LogLine("ERROR", message + stack_of(error.__cause__)))
            return Executed(message, _still_open(calls, requests))
        returned = tuple(
            (call, _answer(response))
            for call, response in zip(calls, responses, strict=True)
            if response is not None
        )
        pairs = zip(calls, requests, strict=True)
        return Executed(returned=returned, again=tuple(call for call, request in pairs if is_rescheduled(request)))

    def finalize(self) -> None:
        """Stop the event loop and call `finalize`; what it raises is only logged."""
        self._stub.finalizing = True
        self._loop.stop()
        try:
            with running(self._stub):
                if hasattr(self._model, "finalize"):
                    described(self._model.finalize)
        except CallFailedError as error:
            self._stub.host.log(LogLine("INFO", error.failure.message + stack_of(error.__cause__)))
        forget(self._stub)

    def _run(self, requests: list[InferenceRequest]) -> list[InferenceResponse | None]:
        if not hasattr(self._model, "execute"):
            raise CallFailedError(f"Python model {self.spec.file} does not implement `execute` method.")
        result = self._model.execute(requests)
        # Triton judges by the value that came back, not by how `execute` was defined.
        if asyncio.iscoroutine(result):
            if self._stub.decoupled:
                self._loop.start(result, self._report)
                result = None
            else:
                result = self._loop.run(result)
        if result is None:
            return [None] * len(requests)
        if self._stub.decoupled:
            raise CallFailedError(
                f"Python model '{self._stub.instance}' is using the decoupled mode and the execute function "
                "must return None."
            )
        return checked_responses(requests, result)

    def _request(self, call: Call) -> InferenceRequest:
        fields = RequestFields(
            call.request_id, call.correlation_id,
            [received_tensor(name, array) for name, array in call.inputs.items()],
            set(call.requested), self.spec.config["name"], self.spec.version, call.flags, call.timeout_us,
            make_trace(call.trace_context), call.parameters_json(),
        )  # fmt: skip
        state = SenderState(self._stub.decoupled, set(call.requested), _deliver(call), call.cancelled.is_set)
        return make_request(fields, state)

    def _report(self, error: BaseException) -> None:
        self._stub.host.log(LogLine("ERROR", f"{type(error).__name__}: {error}{stack_of(error)}"))


def _still_open(calls: Sequence[Call], requests: Sequence[InferenceRequest]) -> tuple[Call, ...]:
    """Close all senders and return the calls that had no final answer before: the others do not hear of it."""
    opened = tuple(
        call for call, request in zip(calls, requests, strict=True) if not state_of(request).closed_by_sender
    )
    for request in requests:
        state_of(request).close()
    return opened


def _deliver(call: Call) -> Callable[[InferenceResponse | None, bool], None]:
    def deliver(response: InferenceResponse | None, final: bool) -> None:
        call.on_answer(None if response is None else _answer(response), final)

    return deliver


def _answer(response: InferenceResponse) -> Answer:
    error = response.error()
    if error is not None:
        return Answer(failure=Failure(error.message(), error.code()))
    return Answer({tensor.name(): sent_array(tensor) for tensor in response.output_tensors()})
