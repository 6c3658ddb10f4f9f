"""Checks what `execute` returned, with Triton's texts."""

from __future__ import annotations

from typing import Any

from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.requests import InferenceRequest, is_rescheduled, state_of
from tritonscope.testing.backend.responses import InferenceResponse, prune
from tritonscope.testing.backend.senders import FINAL
from tritonscope.testing.traffic import CallFailedError


def checked_responses(requests: list[InferenceRequest], returned: Any) -> list[InferenceResponse | None]:
    """Return what `execute` returned, without the outputs that nobody asked for.

    Raises:
        CallFailedError: it is no list with one response, or None, for each request; the batch fails.
    """
    if not isinstance(returned, list):
        raise CallFailedError(f"Expected a list in the execute return, found type '{type(returned)}'.")
    if len(requests) != len(returned):
        raise CallFailedError(
            "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
            f"InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size is:{len(returned)}\n"
        )
    # All are checked before one is sent: an error in one fails the batch.
    for request, response in zip(requests, returned, strict=True):
        if response is not None:
            _check_returned(request, response)
            _count(request, response)
    for request, response in zip(requests, returned, strict=True):
        if response is not None:
            prune(response, state_of(request).requested)
    return returned


def _check_returned(request: InferenceRequest, response: Any) -> None:
    if is_rescheduled(request):
        raise CallFailedError(
            "Expected a None object in the execute function return list for reschduled request, "
            f"found type '{type(response)}'."
        )
    if not isinstance(response, InferenceResponse):
        raise CallFailedError(
            "Expected an 'InferenceResponse' object in the execute function return list, "
            f"found type '{type(response)}'."
        )


def _count(request: InferenceRequest, response: InferenceResponse) -> None:
    try:
        state_of(request).count(response, FINAL)
    except TritonModelException as error:
        raise CallFailedError(str(error)) from None
