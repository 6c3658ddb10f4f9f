"""A small HTTP server that answers what Triton answers."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeTriton:
    """Serves `answers`, from path to JSON; those in a deque one after the other, the last one for good."""

    def __init__(self, answers: dict[str, object], status: int = 200) -> None:
        self.answers, self.status = answers, status
        self.asked: list[tuple[str, str, bytes]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fake.asked.append((self.command, self.path, body))
                status, answer = fake.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_GET  # noqa: N815 - the library's name

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, path: str) -> tuple[int, bytes]:
        answer = self.answers.get(path)
        if answer is None:
            return 404, b'{"error":"not found"}'
        if isinstance(answer, deque):
            answer = answer.popleft() if len(answer) > 1 else answer[0]
        return self.status, answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(answers: dict[str, object], status: int = 200) -> Iterator[FakeTriton]:
    server = FakeTriton(answers, status)
    try:
        yield server
    finally:
        server.close()


def model_stats(
    model: str, requests: int, *, infer_ms: float, queue_ms: float = 0.0, ensemble: bool = False
) -> dict:
    """Return one model's entry of `/v2/models/stats`, executed one by one."""

    def duration(each_ms: float) -> dict:
        return {"count": requests, "ns": round(each_ms * 1e6) * requests}

    batch = {"batch_size": 1, "compute_input": duration(0), "compute_infer": duration(infer_ms),
             "compute_output": duration(0)}  # fmt: skip
    return {
        "name": model, "version": "1", "inference_count": requests, "execution_count": requests,
        "inference_stats": {
            "success": duration(infer_ms + queue_ms), "fail": {"count": 0, "ns": 0}, "queue": duration(queue_ms),
            "compute_input": duration(0), "compute_infer": duration(infer_ms), "compute_output": duration(0),
        },
        "batch_stats": [] if ensemble else [batch],
    }  # fmt: skip
