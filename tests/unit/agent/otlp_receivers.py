"""Real OTLP receivers on loopback, over HTTP and gRPC, that answer as a test tells them to."""

from __future__ import annotations

import gzip
import socket
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import NamedTuple

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Received(NamedTuple):
    """One request as it came in."""

    request: ExportTraceServiceRequest
    headers: dict[str, str]
    path: str = ""

    @property
    def spans(self):
        return spans_in(self.request)


def spans_in(request: ExportTraceServiceRequest):
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


@contextmanager
def nobody():
    """Yield the URL of a port that is taken, so that nothing can come to listen on it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


class HttpReceiver:
    """Answers each POST with the next of `answers` (status, headers, body), and with 200 when there are none."""

    def __init__(self):
        self.received: Queue[Received] = Queue()
        self.answers: deque[tuple[int, dict[str, str], bytes]] = deque()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver._serve(self)

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def _serve(self, handler):
        body = handler.rfile.read(int(handler.headers["content-length"]))
        if handler.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.received.put(Received(ExportTraceServiceRequest.FromString(body), headers, handler.path))
        status, extra, content = self.answers.popleft() if self.answers else (200, {}, b"")
        handler.send_response(status)
        for name, value in extra.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class GrpcReceiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Answers each call with the next of `answers` (code, trailing metadata), and with success after the last."""

    def __init__(self):
        self.received: Queue[Received] = Queue()
        self.answers: deque[tuple[grpc.StatusCode, tuple]] = deque()
        self.response = ExportTraceServiceResponse()
        self._pool = ThreadPoolExecutor(2)
        self._server = grpc.server(self._pool)
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(self, self._server)
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def Export(self, request, context):  # noqa: N802 - the service's name for it
        self.received.put(Received(request, dict(context.invocation_metadata())))
        if self.answers:
            code, trailers = self.answers.popleft()
            context.set_trailing_metadata(trailers)
            context.abort(code, "as told")
        return self.response

    def close(self):
        self._server.stop(None).wait()
        self._pool.shutdown()
