"""Every attribute that the agent sets: its name, its type, where it stands and what it means.

Triton's own keys are used verbatim, so that one query finds Triton's spans and ours.
"""

from __future__ import annotations

from typing import NamedTuple

MODEL_NAME = "triton.model_name"
MODEL_VERSION = "triton.model_version"
REQUEST_ID = "triton.request_id"
INSTANCE = "tritonscope.instance"
BATCH_SIZE = "tritonscope.batch.size"
BATCH_SEQUENCE = "tritonscope.batch.sequence"
EXECUTE_WALL_NS = "tritonscope.execute.wall_ns"
EXECUTE_CPU_NS = "tritonscope.execute.cpu_ns"
CORRELATION_ID = "tritonscope.request.correlation_id"
FATE = "tritonscope.request.fate"
INPUT_BYTES = "tritonscope.input_bytes"
OUTPUT_BYTES = "tritonscope.output_bytes"
STAGE_CPU_NS = "tritonscope.stage.cpu_ns"
CALL_MODEL = "tritonscope.call.model"
CALL_VERSION = "tritonscope.call.version"
CALL_OPERATION = "tritonscope.call.operation"
CALL_RESPONSES = "tritonscope.call.responses"
RESPONSE_NUMBER = "tritonscope.response.number"
RESPONSE_FINAL = "tritonscope.response.final"
RESPONSE_EMPTY = "tritonscope.response.empty"

SERVICE_NAME = "service.name"
SERVICE_INSTANCE_ID = "service.instance.id"
HOST_NAME = "host.name"
PROCESS_PID = "process.pid"

Pair = tuple[str, "str | int | bool"]
"""One attribute as it is sent: its name and its value."""


class Attribute(NamedTuple):
    """One row of the table. `on` names the spans that carry it, or `resource`."""

    name: str
    type: str
    on: tuple[str, ...]
    meaning: str


_ALL = ("request", "batch", "compute", "stage", "call", "response", "fate")
_INSTANCE = (*_ALL, "lifecycle")
_RESOURCE = ("resource",)

ATTRIBUTES = (
    Attribute(MODEL_NAME, "string", _INSTANCE, "name of the model"),
    Attribute(MODEL_VERSION, "string", _INSTANCE, "version of the model"),
    Attribute(REQUEST_ID, "string", ("request",), "the request's id, when the client set one"),
    Attribute(INSTANCE, "string", _INSTANCE, "name of the model instance, as Triton gave it"),
    Attribute(BATCH_SIZE, "int", _ALL, "number of requests that `execute` was called with"),
    Attribute(BATCH_SEQUENCE, "int", _ALL, "how many batches this instance had begun before"),
    Attribute(EXECUTE_WALL_NS, "int", _ALL, "time from the call of `execute` to its end, in nanoseconds"),
    Attribute(
        EXECUTE_CPU_NS,
        "int",
        _ALL,
        "CPU time of the thread that ran `execute`, in nanoseconds; absent where it is unknown",
    ),
    Attribute(CORRELATION_ID, "string", ("request",), "id of the sequence that the request belongs to"),
    Attribute(
        FATE, "string", ("request", "fate"), "`cancelled` or `rescheduled`, where the model noticed or asked for it"
    ),
    Attribute(INPUT_BYTES, "int", ("request",), "bytes of its input tensors, with `TRITONSCOPE_SIZES=1`, if known"),
    Attribute(OUTPUT_BYTES, "int", ("request", "response"), "bytes of the response's tensors, likewise"),
    Attribute(STAGE_CPU_NS, "int", ("stage",), "CPU time of the stage's thread, in nanoseconds; absent if unknown"),
    Attribute(CALL_MODEL, "string", ("call",), "model that was called"),
    Attribute(CALL_VERSION, "string", ("call",), "its version; absent where Triton chose"),
    Attribute(CALL_OPERATION, "string", ("call",), "`load` or `unload` where it was no inference"),
    Attribute(CALL_RESPONSES, "int", ("call",), "responses that came back"),
    Attribute(RESPONSE_NUMBER, "int", ("response",), "which response to its request it is, from 1"),
    Attribute(RESPONSE_FINAL, "bool", ("response",), "whether the sender was closed with it"),
    Attribute(RESPONSE_EMPTY, "bool", ("response",), "whether nothing but the closing was sent"),
    Attribute(SERVICE_NAME, "string", _RESOURCE, "`OTEL_SERVICE_NAME`, or `triton`"),
    Attribute(SERVICE_INSTANCE_ID, "string", _RESOURCE, "host, model instance and process id"),
    Attribute(HOST_NAME, "string", _RESOURCE, "name of the host"),
    Attribute(PROCESS_PID, "int", _RESOURCE, "process id of the stub, in its own PID namespace"),
    Attribute("telemetry.sdk.language", "string", _RESOURCE, "`python`"),
    Attribute("telemetry.sdk.name", "string", _RESOURCE, "`opentelemetry`"),
    Attribute("telemetry.sdk.version", "string", _RESOURCE, "version of the OpenTelemetry SDK beside the agent"),
)
