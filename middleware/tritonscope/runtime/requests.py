"""What we read of a request before `execute` runs: its id and who its parent span is. Nothing is decoded."""

from __future__ import annotations

import json
from typing import Any

from msgspec import structs

from tritonscope.records import RequestRecord

_KEPT = ("traceparent", "tracestate")
_MARK = '"traceparent"'


def read_request(request: Any) -> RequestRecord:
    """Return the record of an InferenceRequest that `execute` is about to get.

    The headers matter only where Triton itself does not trace. The context must be read now: Triton frees the
    trace when the request is released.
    """
    context = request.trace().get_context() or ""
    return RequestRecord(request.request_id(), context, "" if context else _trace_headers(request.parameters()))


def read_sequence_request(request: Any) -> RequestRecord:
    """Return the same with the id of the sequence that the request belongs to, a number or a text."""
    return structs.replace(read_request(request), correlation_id=str(request.correlation_id()))


def _trace_headers(parameters: str) -> str:
    """Return the trace headers among a request's parameters, as JSON; no other parameter leaves the process."""
    if _MARK not in parameters:
        return ""
    values = json.loads(parameters)
    return json.dumps({key: values[key] for key in _KEPT if isinstance(values.get(key), str)})
