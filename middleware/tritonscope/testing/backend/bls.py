"""Business logic scripting: a model calls another model and waits, in its thread or in an executor."""

from __future__ import annotations

import asyncio
from queue import SimpleQueue
from typing import TYPE_CHECKING

from tritonscope.testing.backend.errors import TritonError, TritonModelException
from tritonscope.testing.backend.host import StubState, current_stub, running
from tritonscope.testing.backend.responses import InferenceResponse, ResponseIterator, make_iterator, make_response
from tritonscope.testing.backend.tensors import received_tensor

if TYPE_CHECKING:
    from tritonscope.testing.backend.requests import InferenceRequest
    from tritonscope.testing.traffic import Answer

Answered = InferenceResponse | ResponseIterator


def execute(request: InferenceRequest, *, decoupled: bool) -> Answered:
    """Run a request that a model made and return its response, or the iterator over its responses."""
    return _execute(current_stub(), request, decoupled=decoupled)


def execute_in_background(request: InferenceRequest, *, decoupled: bool) -> asyncio.Future[Answered]:
    """Do the same in the running loop's executor; it has started when this returns.

    Raises:
        RuntimeError: no event loop runs in this thread.
    """
    loop = asyncio.get_running_loop()
    stub = current_stub()

    def call() -> Answered:
        with running(stub):
            return _execute(stub, request, decoupled=decoupled)

    return loop.run_in_executor(None, call)


def _execute(stub: StubState, request: InferenceRequest, *, decoupled: bool) -> Answered:
    if not stub.initialized or stub.finalizing:
        raise TritonModelException("BLS is only supported during the 'execute' function.")
    return _iterate(stub, request) if decoupled else _wait(stub, request)


def _wait(stub: StubState, request: InferenceRequest) -> InferenceResponse:
    answers: SimpleQueue[InferenceResponse] = SimpleQueue()
    stub.host.execute_bls(
        request, lambda answer, final: answers.put(_response(answer, final=final)), decoupled=False
    )
    return answers.get()


def _iterate(stub: StubState, request: InferenceRequest) -> ResponseIterator:
    iterator, push = make_iterator()
    stub.host.execute_bls(request, lambda answer, final: push(_response(answer, final=final)), decoupled=True)
    return iterator


def _response(answer: Answer | None, *, final: bool) -> InferenceResponse:
    if answer is None:
        return make_response([], None, final=final)
    # What reaches a BLS caller is only the text: every code becomes INTERNAL.
    error = None if answer.failure is None else TritonError(answer.failure.message)
    outputs = [received_tensor(name, array) for name, array in answer.outputs.items()]
    return make_response(outputs, error, final=final)
