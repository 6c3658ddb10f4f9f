"""One request on its way through a pipeline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

import triton_python_backend_utils as pb_utils

from tritonscope.pipeline.plan import Plan, PlannedCall

# As Triton's core says it.
_DEADLOCK = "unexpected deadlock, at least one output is not set while no more ensemble steps can be made"


class PipelineError(Exception):
    """A request cannot be answered; `code` is Triton's."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


async def answer(plan: Plan, request: Any) -> Any:
    """Return the response to `request`: what the ensemble would answer, errors included."""
    wanted = list(request.requested_output_names())
    run = _Run(plan, request)
    try:
        await run.make(plan.needed(wanted))
        return pb_utils.InferenceResponse(run.tensors({name: name for name in plan.outputs if name in wanted}))
    except PipelineError as error:
        text = f"in ensemble '{plan.pipeline}', {error}"
        return pb_utils.InferenceResponse(error=pb_utils.TritonError(text, error.code))


class _Run:
    """The tensors that are there so far, and what every call passes on of the request."""

    def __init__(self, plan: Plan, request: Any) -> None:
        self._tensors = {tensor.name(): tensor for tensor in request.inputs()}
        self._never = set(plan.required) - self._tensors.keys()
        self._passed_on = {
            "request_id": request.request_id(),
            "correlation_id": request.correlation_id(),
            "flags": request.flags(),
            "timeout": request.timeout(),
            "parameters": _parameters(request),
        }

    def tensors(self, names: Mapping[str, str]) -> list[Any]:
        """Return the tensors under a model's own names for them, `names`; as in Triton, without those not there."""
        return [_renamed(self._tensors[name], own) for own, name in names.items() if name in self._tensors]

    async def make(self, calls: Iterable[PlannedCall]) -> None:
        """Make `calls`, each as soon as its tensors are there.

        Raises:
            PipelineError: one failed, or can never be made; no other is under way then, for none may outlive
                its request.
        """
        waiting, running = list(calls), dict[Any, PlannedCall]()
        awaited = self._never.union(*(call.outputs.values() for call in waiting))
        try:
            while waiting or running:
                ready = [call for call in waiting if awaited.isdisjoint(call.inputs.values())]
                waiting = [call for call in waiting if call not in ready]
                running |= {self._start(call): call for call in ready}
                if not running:
                    raise self._deadlock()
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for future in done:
                    call = running.pop(future)
                    self._take(call, future.result())
                    awaited -= set(call.outputs.values())
        finally:
            if running:
                await asyncio.wait(running)

    def _start(self, call: PlannedCall) -> Any:
        return pb_utils.InferenceRequest(
            model_name=call.model,
            model_version=call.version,
            inputs=self.tensors(call.inputs),
            requested_output_names=list(call.outputs),
            **self._passed_on,
        ).async_exec()

    def _take(self, call: PlannedCall, response: Any) -> None:
        if response.has_error():
            raise _failure(call, response.error())
        for tensor in response.output_tensors():
            name = call.outputs.get(tensor.name())
            if name is not None:
                self._tensors[name] = tensor

    def _deadlock(self) -> PipelineError:
        who = self._passed_on["request_id"] or "<id_unknown>"
        return PipelineError(f"[request id: {who}] {_DEADLOCK}", pb_utils.TritonError.INVALID_ARG)


def _failure(call: PlannedCall, error: Any) -> PipelineError:
    # Of a request that Triton refuses BLS says so with words of its own.
    message = error.message().removeprefix(f"Model {call.model} - Error when running inference: ")
    return PipelineError("".join(f"in ensemble '{name}', " for name in call.within) + message, error.code())


def _renamed(tensor: Any, name: str) -> Any:
    """Return `tensor` under another name, its content shared where NumPy or DLPack can do it."""
    if tensor.name() == name:
        return tensor
    try:
        return pb_utils.Tensor(name, tensor.as_numpy())
    except pb_utils.TritonModelException:  # on a GPU, or of a type that NumPy lacks
        return pb_utils.Tensor.from_dlpack(name, tensor.to_dlpack())


def _parameters(request: Any) -> dict[str, bool | int | str]:
    """Return the request's parameters; BLS takes none that are floating-point numbers."""
    return {key: value for key, value in json.loads(request.parameters()).items() if not isinstance(value, float)}
