"""What we read of a request before `execute` runs: its id and who its parent span is. Nothing is decoded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs

from tritonscope.records import RequestRecord

_KEPT = ("traceparent", "tracestate")
_MARK = '"traceparent"'


def read_requests(requests: Iterable[Any]) -> list[RequestRecord]:
    """Return the records of the InferenceRequests that `execute` is about to get.

    The headers matter only where Triton itself does not trace. The context must be read now: Triton frees the
    trace when the request is released.
    """
    records = []
    for request in requests:
        context, headers = request.trace().get_context() or "", ""
        if not context and _MARK in (parameters := request.parameters()):
            headers = _trace_headers(parameters)
        records.append(RequestRecord(request.request_id(), context, headers))
    return records


def read_sequence_requests(requests: Sequence[Any]) -> list[RequestRecord]:
    """Return the same with the ids of the sequences that the requests belong to, numbers or texts."""
    return [
        structs.replace(record, correlation_id=str(request.correlation_id()))
        for record, request in zip(read_requests(requests), requests, strict=True)
    ]


def _trace_headers(parameters: str) -> str:
    """Return the trace headers among a request's parameters, as JSON; no other parameter leaves the process."""
    values = json.loads(parameters)
    return json.dumps({key: values[key] for key in _KEPT if isinstance(values.get(key), str)})
