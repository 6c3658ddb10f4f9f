"""InferenceRequest: what `execute` gets, and what a model makes to call another model (BLS)."""

from __future__ import annotations

import json
from asyncio import Future
from typing import Any, NamedTuple

from tritonscope.testing.backend import arguments as accept
from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature
from tritonscope.testing.backend.bls import execute, execute_in_background
from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.memory import PreferredMemory, default_memory
from tritonscope.testing.backend.responses import InferenceResponse, ResponseIterator
from tritonscope.testing.backend.senders import InferenceResponseSender, SenderState, make_sender
from tritonscope.testing.backend.tensors import Tensor
from tritonscope.testing.backend.trace import InferenceTrace, make_trace

RELEASE_ALL = 1
RELEASE_RESCHEDULE = 2

_NO_TRACE = make_trace("")
_ANY_MEMORY = default_memory()
_INIT = Signature(
    "__init__",
    f"{MODULE}.InferenceRequest(request_id: str = '', correlation_id: object = 0, "
    "inputs: List[triton::backend::python::PbTensor], requested_output_names: List[str], model_name: str, "
    "model_version: int = -1, flags: int = 0, timeout: int = 0, "
    f"preferred_memory: {MODULE}.PreferredMemory = {_ANY_MEMORY!r}, "
    f"trace: {MODULE}.InferenceTrace = {_NO_TRACE!r}, parameters: object = None)",
    (
        Parameter("request_id", accept.is_text, ""),
        Parameter("correlation_id", accept.is_something, 0),
        Parameter("inputs", accept.is_list_of(accept.is_a_or_none(Tensor))),
        Parameter("requested_output_names", accept.is_list_of(accept.is_text)),
        Parameter("model_name", accept.is_text),
        Parameter("model_version", accept.is_int64, -1),
        Parameter("flags", accept.is_uint32, 0),
        Parameter("timeout", accept.is_uint64, 0),
        Parameter("preferred_memory", accept.is_a(PreferredMemory), _ANY_MEMORY),
        Parameter("trace", accept.is_a(InferenceTrace), _NO_TRACE),
        Parameter("parameters", accept.is_anything, None),
    ),
)


class RequestFields(NamedTuple):
    """Everything that a request says."""

    request_id: str
    correlation_id: int | str
    inputs: list[Tensor]
    requested: set[str]
    model: str
    version: int
    flags: int
    timeout_us: int
    trace: InferenceTrace
    parameters: str


class InferenceRequest:
    """One request to a model. Models make some to call other models with `exec` and `async_exec`."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_fields", "_flags", "_release", "_sender", "_state")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        (
            request_id,
            correlation_id,
            inputs,
            requested,
            model,
            version,
            flags,
            timeout,
            _memory,
            trace,
            parameters,
        ) = _INIT.bind(args, kwargs)
        text = _checked_parameters(parameters)
        correlation = _checked_correlation_id(correlation_id)
        _check_names(request_id, model, inputs, requested)
        fields = RequestFields(
            request_id, correlation, list(inputs), set(requested), model, version, flags, timeout, trace, text
        )
        self._set(fields, SenderState(None, set(requested), _deliver_nowhere, lambda: False))

    def _set(self, fields: RequestFields, state: SenderState) -> None:
        self._fields = fields
        self._flags = fields.flags
        self._release = RELEASE_ALL
        self._state = state
        self._sender = make_sender(state)

    def inputs(self) -> list[Tensor]:
        """Return the input tensors."""
        return list(self._fields.inputs)

    def request_id(self) -> str:
        """Return the id that the client gave, or ''."""
        return self._fields.request_id

    def correlation_id(self) -> int | str:
        """Return the id of the sequence that this request belongs to, 0 for none."""
        return self._fields.correlation_id

    def flags(self) -> int:
        """Return the sequence flags: 1 starts a sequence, 2 ends it."""
        return self._flags

    def set_flags(self, flags: int) -> None:
        """Set the sequence flags."""
        self._flags = flags

    def timeout(self) -> int:
        """Return the time that the client allows, in microseconds, 0 for any."""
        return self._fields.timeout_us

    def parameters(self) -> str:
        """Return the request's parameters as JSON."""
        return self._fields.parameters

    def trace(self) -> InferenceTrace:
        """Return the trace that this request is part of."""
        return self._fields.trace

    def requested_output_names(self) -> set[str]:
        """Return the names of the outputs that the caller wants."""
        return set(self._fields.requested)

    def get_response_sender(self) -> InferenceResponseSender:
        """Return the one sender of this request."""
        return self._sender

    def is_cancelled(self) -> bool:
        """Whether the client has cancelled the request."""
        return self._state.cancelled()

    def set_release_flags(self, flags: int) -> None:
        """Say what happens after `execute`: 1 releases the request, 2 brings it back to `execute`."""
        self._release = flags

    def exec(self, decoupled: bool = False) -> InferenceResponse | ResponseIterator:
        """Call the model and wait. What goes wrong there comes back as a response with an error.

        Raises:
            TritonModelException: called outside `execute`.
        """
        return execute(self, decoupled=decoupled)

    def async_exec(self, decoupled: bool = False) -> Future[InferenceResponse | ResponseIterator]:
        """Start the call in an executor of the running event loop and return its future."""
        return execute_in_background(self, decoupled=decoupled)


def make_request(fields: RequestFields, state: SenderState) -> InferenceRequest:
    """Return a request as the backend makes them for `execute`, without a call of `InferenceRequest.__init__`."""
    request = InferenceRequest.__new__(InferenceRequest)
    request._set(fields, state)  # noqa: SLF001 - its other constructor
    return request


def is_rescheduled(request: InferenceRequest) -> bool:
    """Whether the model wants to see the request again."""
    return request._release == RELEASE_RESCHEDULE  # noqa: SLF001 - the backend's side of InferenceRequest


def fields_of(request: InferenceRequest) -> RequestFields:
    """Return what a request says now."""
    return request._fields._replace(flags=request._flags)  # noqa: SLF001 - the backend's side of InferenceRequest


def state_of(request: InferenceRequest) -> SenderState:
    """Return the state of a request's sender."""
    return request._state  # noqa: SLF001 - the backend's side of InferenceRequest


def _deliver_nowhere(_response: InferenceResponse | None, _final: bool) -> None:
    """Nobody waits for responses to a request that a model made: its sender refuses before."""


def _checked_parameters(parameters: Any) -> str:
    if parameters is None:
        parameters = {}
    if not isinstance(parameters, dict):
        raise TritonModelException(f"Expect N8pybind114dictE, got {type(parameters)}")
    for name, value in parameters.items():
        if not isinstance(name, str):
            raise TritonModelException(f"Expect parameters keys to have type str, found type {type(name)}")
        if not isinstance(value, bool | int | str):
            raise TritonModelException(
                f"Expect parameters values to have type bool/int/str, found type {type(value)}"
            )
    return json.dumps(parameters)


def _checked_correlation_id(value: Any) -> int | str:
    if isinstance(value, str):
        return value
    if not isinstance(value, int):
        raise TritonModelException("Correlation ID must be integer or string")
    if not accept.is_uint64(value):
        raise RuntimeError(
            "Unable to cast Python instance to C++ type "
            "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
        )
    return int(value)


def _check_names(request_id: str, model: str, inputs: Any, requested: Any) -> None:
    place = f"for request with id '{request_id}' and model name '{model}' should not be empty."
    if any(tensor is None for tensor in inputs):
        raise TritonModelException(f"Input tensor {place}")
    if "" in requested:
        raise TritonModelException(f"Requested output name {place}")
