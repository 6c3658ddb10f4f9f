"""An OTLP/HTTP receiver on loopback that keeps the spans it gets: for tests, and for a demo without a backend."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

if TYPE_CHECKING:
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span


class OtlpReceiver:
    """Accepts POST /v1/traces until it is closed; use it as a context manager.

    `answer` is the HTTP status of every answer: set it to 503, say, to see a sender retry.
    """

    def __init__(self, port: int = 0) -> None:
        self.answer = 200
        self.requests = 0
        self.resource_spans: list[ResourceSpans] = []
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        """The url for OTEL_EXPORTER_OTLP_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Span]:
        """Every span received so far."""
        with self._changed:
            return [span for group in self.resource_spans for scope in group.scope_spans for span in scope.spans]

    def wait_for(self, spans: int, timeout_s: float = 30) -> list[Span]:
        """Return all spans once there are at least `spans` of them.

        Raises:
            TimeoutError: they did not come within `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._count() >= spans, timeout_s):
                raise TimeoutError(f"{self._count()} of {spans} spans came within {timeout_s} s")
        return self.spans

    def take(self, body: bytes) -> int:
        """Keep the spans of one export request and return the HTTP status to answer with."""
        with self._changed:
            self.requests += 1
            if self.answer == 200:  # noqa: PLR2004 - HTTP's OK
                self.resource_spans.extend(ExportTraceServiceRequest.FromString(body).resource_spans)
            self._changed.notify_all()
            return self.answer

    def __enter__(self) -> OtlpReceiver:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _count(self) -> int:
        return sum(len(scope.spans) for group in self.resource_spans for scope in group.scope_spans)


def _handler(receiver: OtlpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(receiver.take(body))
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing: the receiver runs inside other programs."""

    return Handler
