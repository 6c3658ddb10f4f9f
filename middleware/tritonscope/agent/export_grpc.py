"""OTLP over gRPC: unary calls of TraceService/Export with requests that are encoded already."""

from __future__ import annotations

from pathlib import Path

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tritonscope import __version__
from tritonscope.agent.otlp_settings import OtlpSettings
from tritonscope.agent.transport import Answer, Fate

_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
# Source: the OTLP specification, "Failures". RESOURCE_EXHAUSTED counts only with a RetryInfo.
_RETRYABLE = frozenset({
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
})  # fmt: skip
_STATUS_DETAILS = "grpc-status-details-bin"
_OPTIONS = (
    ("grpc.primary_user_agent", f"tritonscope-otlp-exporter-python/{__version__}"),
    # The pauses between our own attempts are enough: do not wait up to two minutes to connect again.
    ("grpc.max_reconnect_backoff_ms", 5000),
)


class GrpcTransport:
    """Sends to one target over one channel."""

    def __init__(self, settings: OtlpSettings) -> None:
        self.where = settings.endpoint
        self._headers = settings.headers
        compression = grpc.Compression.Gzip if settings.gzip else grpc.Compression.NoCompression
        if settings.insecure:
            self._channel = grpc.insecure_channel(settings.endpoint, _OPTIONS, compression)
        else:
            self._channel = grpc.secure_channel(settings.endpoint, _credentials(settings), _OPTIONS, compression)
        self._export = self._channel.unary_unary(_EXPORT, None, ExportTraceServiceResponse.FromString)

    def send(self, body: bytes, timeout_s: float) -> Answer:
        """Send an encoded request and return what became of it."""
        try:
            partial = self._export(body, timeout=timeout_s, metadata=self._headers).partial_success
        except grpc.RpcError as error:
            return _failed(error)
        return Answer(Fate.ACCEPTED, rejected_spans=partial.rejected_spans, reason=partial.error_message)

    def close(self) -> None:
        """Close the channel; a call that is under way ends."""
        self._channel.close()


def _credentials(settings: OtlpSettings) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        _content(settings.certificate), _content(settings.client_key), _content(settings.client_certificate)
    )


def _content(path: Path | None) -> bytes | None:
    return path.read_bytes() if path else None


def _failed(error: grpc.RpcError) -> Answer:
    code = error.code()
    pause_s = _retry_after_s(error)
    retry = code in _RETRYABLE or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and pause_s is not None)
    reason = f"{code.name}: {error.details()}"
    return Answer(Fate.RETRY if retry else Fate.REFUSED, retry_after_s=pause_s, reason=reason)


def _retry_after_s(error: grpc.RpcError) -> float | None:
    """Return the pause that a RetryInfo among the status's details asks for."""
    trailers = dict(error.trailing_metadata() or ())
    try:
        details = Status.FromString(trailers.get(_STATUS_DETAILS, b"")).details
    except DecodeError:
        return None
    for detail in details:
        info = RetryInfo()
        if detail.Unpack(info):
            return float(info.retry_delay.ToTimedelta().total_seconds())
    return None
