"""Runs cases on a real tritonserver, over gRPC; it must run with `--model-control-mode=explicit`."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from typing import Any

import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from tests.conformance.cases import Call, Case, answer, bad, good, text

_CODES = {"INVALID_ARGUMENT": "INVALID_ARG", "UNIMPLEMENTED": "UNSUPPORTED"}
_FINAL = "triton_final_response"


class RealServerTarget:
    """The server at `url` (gRPC) as a target of cases."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = triton.InferenceServerClient(url)

    def load(self, model: str) -> str:
        return self._ask(self._client.load_model, model)

    def unload(self, model: str) -> str:
        return self._ask(self._client.unload_model, model)

    def call(self, model: str, calls: Sequence[Call], case: Case) -> list[dict[str, Any]]:
        if case.stream:
            return [self._stream(model, call, case) for call in calls]
        got = [self._start(model, call, case) for call in calls]
        return [each.get(timeout=case.patience_s + 20) for each in got]

    def close(self) -> None:
        self._client.close()

    def _ask(self, command: Any, model: str) -> str:
        try:
            command(model)
        except InferenceServerException as error:
            return text(error.message())
        return ""

    def _start(self, model: str, call: Call, case: Case) -> queue.Queue[dict[str, Any]]:
        got: queue.Queue[dict[str, Any]] = queue.Queue()

        def on_answer(result: triton.InferResult | None, error: InferenceServerException | None) -> None:
            if error is None:
                got.put(answer([good(_outputs(result))]))
            elif error.status() == "StatusCode.DEADLINE_EXCEEDED":
                got.put(answer([], final=False))
            else:
                got.put(answer([_error(error)]))

        self._client.async_infer(model, callback=on_answer, client_timeout=case.patience_s, **_options(call))
        return got

    def _stream(self, model: str, call: Call, case: Case) -> dict[str, Any]:
        got: queue.Queue[tuple[Any, Any]] = queue.Queue()
        responses: list[dict[str, Any]] = []
        # A client of its own: one client has one stream, and a cancelled one is not used again.
        with triton.InferenceServerClient(self._url) as client:
            client.start_stream(lambda result, error: got.put((result, error)))
            client.async_stream_infer(model, enable_empty_final_response=True, **_options(call))
            responses += [good(_outputs(got.get(timeout=20)[0])) for _ in range(call.cancel_after)]
            client.stop_stream(cancel_requests=bool(call.cancel_after))
        while not got.empty() and not call.cancel_after:
            result, error = got.get()
            if error is not None:
                responses.append(_error(error))
            elif result.get_response().outputs or not _is_final(result):
                responses.append(good(_outputs(result)))
        return answer(responses)


def _options(call: Call) -> dict[str, Any]:
    sequence = call.sequence or {}
    options: dict[str, Any] = {
        "inputs": [_input(name, array) for name, array in call.inputs.items()],
        "request_id": call.request_id, "parameters": call.parameters, "sequence_id": sequence.get("id", 0),
        "sequence_start": sequence.get("start", False), "sequence_end": sequence.get("end", False),
        "timeout": call.timeout_us or None,
    }  # fmt: skip
    if call.requested_outputs:
        options["outputs"] = [triton.InferRequestedOutput(name) for name in call.requested_outputs]
    return options


def _input(name: str, array: Any) -> triton.InferInput:
    tensor = triton.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def _outputs(result: Any) -> dict[str, Any]:
    return {output.name: result.as_numpy(output.name) for output in result.get_response().outputs}


def _is_final(result: Any) -> bool:
    return result.get_response().parameters[_FINAL].bool_param


def _error(error: InferenceServerException) -> dict[str, Any]:
    status = (error.status() or "").removeprefix("StatusCode.")
    return bad(error.message(), _CODES.get(status, status))
