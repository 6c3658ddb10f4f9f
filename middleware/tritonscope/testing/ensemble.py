"""Ensembles: a graph of models by the names of their tensors. A step runs as soon as its inputs are there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tritonscope.evidence import ModelStatistics
from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.config import Config
from tritonscope.testing.statistics import Counters, RequestTimes, Times
from tritonscope.testing.traffic import Answer, Call, CallFailedError, Failure
from tritonscope.testing.validation import check_call

Submit = Callable[[Call], None]
# As Triton's core says it.
_DEADLOCK = "unexpected deadlock, at least one output is not set while no more ensemble steps can be made"


class Step(NamedTuple):
    """One step: which model, and the ensemble's tensors by the names of the model's inputs and outputs."""

    model: str
    version: int
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def read_steps(config: Config) -> tuple[Step, ...]:
    """Return the steps of an ensemble's configuration."""
    return tuple(
        Step(step["model_name"], step["model_version"] or -1, step["input_map"], step["output_map"])
        for step in config["ensemble_scheduling"]["step"]
    )


class ServedEnsemble:
    """An ensemble that is being served; `submit` is the server's, for requests to its steps."""

    decoupled = False

    def __init__(self, config: Config, version: int, submit: Submit) -> None:
        self.config = config
        self.version = version
        self.steps = read_steps(config)
        self._submit = submit
        self._counters = Counters(config["name"], version)

    def submit(self, call: Call) -> None:
        """Check a request and start the steps that need nothing but its inputs.

        Raises:
            CallFailedError: it does not fit the ensemble.
        """
        check_call(call, self.config)
        _Run(self, call, self._submit, self._counters).advance({})

    def statistics(self) -> ModelStatistics:
        """Return the counters; their compute times are sums over the steps, parallel ones included."""
        return self._counters.read()

    def close(self) -> None:
        """Do nothing: an ensemble has no instances."""


class _Run:
    """One request on its way through an ensemble."""

    def __init__(self, ensemble: ServedEnsemble, call: Call, submit: Submit, counters: Counters) -> None:
        self._call, self._submit, self._counters = call, submit, counters
        self._lock = threading.Lock()
        self._largest = int(ensemble.config.get("max_batch_size", 0))
        self._tensors: dict[str, Any] = dict(call.inputs)
        self._waiting = _needed(ensemble.steps, set(call.requested))
        required = {each["name"] for each in ensemble.config["input"] if not each["optional"]}
        # Tensors that may still come: a step that ended without one of its outputs leaves the next ones without it.
        self._awaited = {tensor for step in self._waiting for tensor in step.outputs.values()}
        self._awaited |= required - call.inputs.keys()
        self._running = 0
        self._times = Times()
        self._done = False

    def advance(self, tensors: Mapping[str, Any], ended: Step | None = None) -> None:
        """Take the tensors of a step that ended, start what they make possible, and answer when all is there."""
        with self._lock:
            self._tensors.update(tensors)
            self._awaited.difference_update(ended.outputs.values() if ended else ())
            ready = [step for step in self._waiting if self._awaited.isdisjoint(step.inputs.values())]
            self._waiting = [step for step in self._waiting if step not in ready]
            self._running += len(ready)
        for step in ready:
            self._start(step)
        with self._lock:
            finished = not self._running and not self._done
            self._done = self._done or finished
        if finished:
            self._finish()

    def _start(self, step: Step) -> None:
        def on_answer(answer: Answer | None, final: bool) -> None:
            if final or answer is not None:
                self._take(step, answer)

        parent = self._call
        inputs = {name: self._tensors[tensor] for name, tensor in step.inputs.items() if tensor in self._tensors}
        call = Call(
            step.model, inputs, on_answer, step.version, tuple(step.outputs), parent.request_id,
            parent.correlation_id, parent.flags, parent.timeout_us, parent.parameters, parent.trace_context,
            parent.cancelled,
        )  # fmt: skip
        try:
            self._submit(call)
        except CallFailedError as error:
            self._fail(error.failure)

    def _take(self, step: Step, answer: Answer | None) -> None:
        if answer is None or answer.failure is not None:
            self._fail((answer and answer.failure) or Failure(f"model '{step.model}' gave no response"))
            return
        with self._lock:
            self._running -= 1
            self._times = self._times.plus(answer.times)
        made = {step.outputs[name]: array for name, array in answer.outputs.items() if name in step.outputs}
        self.advance(made, step)

    def _fail(self, failure: Failure) -> None:
        with self._lock:
            failed, self._done = not self._done, True
        if failed:
            self._counters.count_failure()
            message = f"in ensemble '{self._call.model}', {failure.message}"
            self._call.fail(replace(failure, message=message))

    def _finish(self) -> None:
        if self._waiting:
            self._done = False
            who = self._call.request_id or "<id_unknown>"
            self._fail(Failure(f"[request id: {who}] {_DEADLOCK}", ErrorCode.INVALID_ARG))
            return
        ended_ns = time.monotonic_ns()
        size = self._call.batch_size(self._largest)
        self._counters.count_execution(size, self._times)
        self._counters.count_request(RequestTimes(ended_ns - self._call.queued_ns, 0, self._times), size)
        outputs = {name: self._tensors[name] for name in self._call.requested if name in self._tensors}
        self._call.on_answer(Answer(outputs, times=self._times), True)  # noqa: FBT003 - OnAnswer has two parameters


def _needed(steps: tuple[Step, ...], wanted: set[str]) -> list[Step]:
    """Return the steps that lead to the wanted tensors; Triton skips the others."""
    needed: list[Step] = []
    while True:
        more = [step for step in steps if step not in needed and wanted & set(step.outputs.values())]
        if not more:
            return needed
        needed += more
        wanted = wanted | {tensor for step in more for tensor in step.inputs.values()}
