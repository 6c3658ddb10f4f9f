"""Runs cases on tritonscope's own in-process server."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from tests.conformance.cases import Call, Case, answer, bad, good, text
from tritonscope.errors import TritonscopeError
from tritonscope.testing import InProcessServer, Pending, Response

# A case of silence need not wait as long as on a real server: nothing crosses a process boundary here.
_SILENCE_S = 0.5


class InProcessTarget:
    """An InProcessServer as a target of cases."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server

    def load(self, model: str) -> str:
        try:
            self._server.load(model)
        except TritonscopeError as error:
            return text(str(error))
        return ""

    def unload(self, model: str) -> str:
        self._server.unload(model)
        return ""

    def call(self, model: str, calls: Sequence[Call], case: Case) -> list[dict[str, Any]]:
        pending = [self._start(model, call) for call in calls]
        patience_s = case.patience_s if case.patience_s > 1 else _SILENCE_S
        return [_collected(each, call, patience_s) for each, call in zip(pending, calls, strict=True)]

    def _start(self, model: str, call: Call) -> Pending:
        sequence = call.sequence or {}
        came = threading.Semaphore(0)
        pending = self._server.start(
            model, call.inputs, request_id=call.request_id, parameters=call.parameters,
            requested_outputs=call.requested_outputs, sequence_id=sequence.get("id", 0),
            sequence_start=sequence.get("start", False), sequence_end=sequence.get("end", False),
            timeout_us=call.timeout_us, on_response=lambda _answer, _final: came.release(),
        )  # fmt: skip
        for _ in range(call.cancel_after):
            assert came.acquire(timeout=20)
        if call.cancel_after:
            pending.cancel()
        return pending


def _collected(pending: Pending, call: Call, patience_s: float) -> dict[str, Any]:
    try:
        responses = pending.result(patience_s).responses
    except TimeoutError:
        return answer([], final=False)
    return answer([_told(response) for response in responses[: call.cancel_after or None]])


def _told(response: Response) -> dict[str, Any]:
    return bad(response.error, response.code) if response.error else good(dict(response.outputs))
