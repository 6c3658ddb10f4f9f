"""ModelHost: the server as its models see it. Routes their calls, loads models for them, keeps their log."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.backend.host import LogLine
from tritonscope.testing.backend.metric_registry import MetricRegistry
from tritonscope.testing.backend.requests import InferenceRequest, RequestFields, fields_of
from tritonscope.testing.backend.tensors import sent_array
from tritonscope.testing.repository import Repository
from tritonscope.testing.tracecontext import child_context
from tritonscope.testing.traffic import Call, CallFailedError, OnAnswer

_NEEDS_DECOUPLED = (
    "Model {model} is using the decoupled. The current BLS request call doesn't support models using the decoupled "
    "transaction policy. Please use 'decoupled=True' argument to the 'exec' or 'async_exec' calls for decoupled "
    "models.'"
)

_LEVELS = {"VERBOSE": logging.DEBUG, "INFO": logging.INFO, "WARNING": logging.WARNING, "ERROR": logging.ERROR}
log = logging.getLogger("tritonscope.testing")


class ModelHost:
    """What `backend.host.Host` promises, on the models in `folder`."""

    def __init__(self, folder: Path, *, explicit: bool) -> None:
        self.metrics = MetricRegistry()
        self.log_lines: list[LogLine] = []
        self.repository = Repository(folder, self, self.submit)
        self._explicit = explicit

    def submit(self, call: Call) -> None:
        """Pass a call on to its model.

        Raises:
            CallFailedError: there is no such model, or the call does not fit it.
        """
        served = self.repository.find(call.model, call.version)
        if call.trace_context:
            call.trace_context = child_context(call.trace_context)
        served.submit(call)

    def execute_bls(self, request: InferenceRequest, on_answer: OnAnswer, *, decoupled: bool) -> None:
        """Start a request that a model made."""
        fields = fields_of(request)
        call = Call(
            fields.model, {tensor.name(): sent_array(tensor) for tensor in fields.inputs}, on_answer,
            fields.version, tuple(sorted(fields.requested)), fields.request_id, fields.correlation_id, fields.flags,
            fields.timeout_us, json.loads(fields.parameters), fields.trace.get_context() or "",
        )  # fmt: skip
        try:
            self._check_callable(fields, decoupled=decoupled)
            self.submit(call)
        except CallFailedError as error:
            message = f"Model {fields.model} - Error when running inference: {error.failure.message}"
            call.fail(replace(error.failure, message=message))

    def _check_callable(self, fields: RequestFields, *, decoupled: bool) -> None:
        try:
            served = self.repository.find(fields.model, fields.version)
        except CallFailedError:
            reason = f"Failed for execute the inference request. Model '{fields.model}' is not ready."
            raise CallFailedError(reason) from None
        if served.decoupled and not decoupled:
            raise CallFailedError(_NEEDS_DECOUPLED.format(model=fields.model))

    def load_model(self, name: str, config: str, files: Mapping[str, bytes]) -> None:
        """Load or reload a model for another."""
        self._check_explicit()
        self.repository.load(name, config, files)

    def unload_model(self, name: str, *, dependents: bool) -> None:
        """Unload a model for another."""
        self._check_explicit()
        self.repository.unload(name, dependents=dependents)

    def _check_explicit(self) -> None:
        if not self._explicit:
            raise CallFailedError(
                "explicit model load / unload is not allowed if polling is enabled", ErrorCode.UNAVAILABLE
            )

    def is_model_ready(self, name: str, version: str) -> bool:
        """Whether a version of a model answers requests."""
        return self.repository.is_ready(name, version)

    def log(self, line: LogLine) -> None:
        """Keep a line that a model logged, and pass it on to Python's logging."""
        self.log_lines.append(line)
        log.log(_LEVELS[line.level], "%s", line.message)
