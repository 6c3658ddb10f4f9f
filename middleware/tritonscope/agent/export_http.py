"""OTLP over HTTP: binary protobuf in POST requests on one connection that stays open."""

from __future__ import annotations

import gzip
import ssl
import time
from email.utils import parsedate_to_datetime

import httpx
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tritonscope import __version__
from tritonscope.agent.otlp_settings import OtlpSettings
from tritonscope.agent.transport import Answer, Fate

# Source: the OTLP specification, "Retryable Response Codes". No other 4xx or 5xx may be retried.
_RETRYABLE = frozenset({429, 502, 503, 504})
_LONGEST_PAUSE_S = 3600.0
# Spans compress to a tenth at any level; the first costs a quarter of the default one's time.
_GZIP_LEVEL = 1


class HttpTransport:
    """Sends to one URL. The timeout holds for each step of a request: connecting, writing, reading."""

    def __init__(self, settings: OtlpSettings) -> None:
        self.where = settings.endpoint
        self._gzip = settings.gzip
        self._client = httpx.Client(headers=_headers(settings), verify=_verification(settings))

    def send(self, body: bytes, timeout_s: float) -> Answer:
        """Send an encoded request and return what became of it."""
        content = gzip.compress(body, _GZIP_LEVEL) if self._gzip else body
        try:
            response = self._client.post(self.where, content=content, timeout=timeout_s)
        except httpx.TransportError as error:
            return Answer(Fate.RETRY, reason=str(error) or type(error).__name__)
        if response.is_success:
            return _accepted(response.content)
        fate = Fate.RETRY if response.status_code in _RETRYABLE else Fate.REFUSED
        reason = f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
        return Answer(fate, retry_after_s=_retry_after_s(response), reason=reason)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _headers(settings: OtlpSettings) -> dict[str, str]:
    headers = {
        "user-agent": f"tritonscope-otlp-exporter-python/{__version__}",
        **dict(settings.headers),
        "content-type": "application/x-protobuf",
    }
    if settings.gzip:
        headers["content-encoding"] = "gzip"
    return headers


def _verification(settings: OtlpSettings) -> ssl.SSLContext | bool:
    """Return how to check the server, and with which certificate of our own to introduce ourselves."""
    if settings.certificate is None and settings.client_certificate is None:
        return True
    context = ssl.create_default_context(cafile=settings.certificate)
    if settings.client_certificate is not None:
        context.load_cert_chain(settings.client_certificate, settings.client_key)
    return context


def _accepted(content: bytes) -> Answer:
    try:
        partial = ExportTraceServiceResponse.FromString(content).partial_success
    except DecodeError:
        # Some receivers answer 200 with a text of their own: the spans are theirs all the same.
        return Answer(Fate.ACCEPTED)
    return Answer(Fate.ACCEPTED, rejected_spans=partial.rejected_spans, reason=partial.error_message)


def _retry_after_s(response: httpx.Response) -> float | None:
    """Return the pause that a Retry-After header asks for, in seconds or as a date (RFC 9110, section 10.2.3)."""
    text = response.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return min(float(text), _LONGEST_PAUSE_S)
    try:
        pause_s = parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError):
        return None
    return min(max(pause_s, 0.0), _LONGEST_PAUSE_S)
