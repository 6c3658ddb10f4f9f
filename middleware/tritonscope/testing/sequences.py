"""Sequences: requests of one correlation id go to one instance, in order, with the control inputs it asks for."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tritonscope.testing.backend import datatypes
from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.batching import BatchQueue
from tritonscope.testing.config import Config
from tritonscope.testing.traffic import SEQUENCE_END, SEQUENCE_START, Call, CallFailedError

_FLAGS = {"CONTROL_SEQUENCE_START": SEQUENCE_START, "CONTROL_SEQUENCE_END": SEQUENCE_END}


class SequenceRouter:
    """Assigns sequences to the queues of instances.

    Simpler than Triton's schedulers: no idle timeout, no implicit state, and no limit on sequences an instance.
    """

    def __init__(self, config: Config, queues: Sequence[BatchQueue]) -> None:
        sequences = config["sequence_batching"]
        self._model = config["name"]
        self._largest = int(config.get("max_batch_size", 0))
        self._iterative = bool(sequences.get("iterative_sequence"))
        self._controls = [
            (each["name"], control) for each in sequences.get("control_input", ()) for control in each["control"]
        ]
        self._queues = queues
        self._lock = threading.Lock()
        self._assigned: dict[int | str, BatchQueue] = {}
        self._generated = itertools.count(1)

    def route(self, call: Call) -> BatchQueue:
        """Return the queue for a request of a sequence, and give the request its control inputs.

        Raises:
            CallFailedError: it has no correlation id, or its sequence has not been started.
        """
        with self._lock:
            queue = self._start_of_its_own(call) if self._iterative else self._queue_of(call)
        batch = (call.batch_size(self._largest),) if self._largest else ()
        for name, control in self._controls:
            call.inputs[name] = _control_array(control, call, (*batch, 1))
        return queue

    def _start_of_its_own(self, call: Call) -> BatchQueue:
        """An iterative sequence is one request that comes again and again: it needs no id of the client's."""
        at = next(self._generated)
        call.correlation_id = call.correlation_id or at
        call.flags |= SEQUENCE_START
        return self._queues[at % len(self._queues)]

    def _queue_of(self, call: Call) -> BatchQueue:
        if not call.correlation_id:
            raise CallFailedError(
                f"inference request to model '{self._model}' must specify a non-zero or non-empty correlation ID",
                ErrorCode.INVALID_ARG,
            )
        if call.flags & SEQUENCE_START:
            load = list(self._assigned.values())
            self._assigned[call.correlation_id] = min(self._queues, key=load.count)
        queue = self._assigned.get(call.correlation_id)
        if queue is None:
            raise CallFailedError(
                f"inference request for sequence {call.correlation_id} to model '{self._model}' "
                "must specify the START flag on the first request of the sequence",
                ErrorCode.INVALID_ARG,
            )
        if call.flags & SEQUENCE_END:
            del self._assigned[call.correlation_id]
        return queue


def _control_array(control: Mapping[str, Any], call: Call, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if control["kind"] == "CONTROL_SEQUENCE_CORRID":
        return np.full(shape, call.correlation_id, datatypes.to_numpy(datatypes.from_config(control["data_type"])))
    active = control["kind"] == "CONTROL_SEQUENCE_READY" or bool(call.flags & _FLAGS[control["kind"]])
    for kind, dtype in (("int32", np.int32), ("fp32", np.float32), ("bool", np.bool_)):
        values = control.get(f"{kind}_false_true")
        if values:
            return np.full(shape, values[active], dtype)
    return np.full(shape, active, np.bool_)
