"""A Python model that is being served: its instances, each with a worker thread, behind one queue."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tritonscope.evidence import ModelStatistics
from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.backend.host import Host
from tritonscope.testing.batching import BatchQueue, batch_policy
from tritonscope.testing.config import Config
from tritonscope.testing.model import Executed, LoadedModel
from tritonscope.testing.sequences import SequenceRouter
from tritonscope.testing.spec import InstanceSpec
from tritonscope.testing.statistics import Counters, RequestTimes, Times
from tritonscope.testing.traffic import SEQUENCE_START, Call, CallFailedError, Failure
from tritonscope.testing.validation import check_call

_GRACE_S = 5
log = logging.getLogger("tritonscope.testing")


class ServedModel:
    """All instances of one version of a Python model."""

    def __init__(self, config: Config, model_dir: Path, version: int, host: Host) -> None:
        self.config = config
        self.version = version
        self._counters = Counters(config["name"], version)
        self.instances = _load_instances(config, model_dir, version, host)
        self._queues, self._router = self._scheduler()
        self._workers = [
            threading.Thread(target=self._work, args=(instance, queue), name=instance.spec.name, daemon=True)
            for instance, queue in zip(self.instances, self._queues, strict=True)
        ]
        for worker in self._workers:
            worker.start()

    def _scheduler(self) -> tuple[list[BatchQueue], SequenceRouter | None]:
        policy = batch_policy(self.config)
        if "sequence_batching" not in self.config:
            return [BatchQueue(policy)] * len(self.instances), None
        queues = [BatchQueue(policy, one_per_sequence=True) for _ in self.instances]
        return queues, SequenceRouter(self.config, queues)

    @property
    def decoupled(self) -> bool:
        """Whether a request may get any number of answers."""
        return self.instances[0].spec.decoupled

    def submit(self, call: Call) -> None:
        """Check a request and queue it.

        Raises:
            CallFailedError: it does not fit the model.
        """
        check_call(call, self.config)
        queue = self._queues[0] if self._router is None else self._router.route(call)
        if not queue.put(call):
            raise CallFailedError(f"Model '{call.model}' is stopping.", ErrorCode.UNAVAILABLE)

    def statistics(self) -> ModelStatistics:
        """Return the counters."""
        return self._counters.read()

    def close(self) -> None:
        """Execute what waits, then finalize every instance; one that never ends is left behind."""
        for queue in self._queues:
            queue.close()
        for instance, worker in zip(self.instances, self._workers, strict=True):
            # A model may unload itself, in its own worker.
            if worker is not threading.current_thread():
                worker.join(_GRACE_S)
            if worker.is_alive():
                log.warning("%s still executes: it is not finalized", instance.spec.name)
            else:
                instance.finalize()

    def _work(self, instance: LoadedModel, queue: BatchQueue) -> None:
        while batch := queue.take():
            executed, times = self._execute(instance, batch)
            if executed.failure:
                for call in executed.failed:
                    self._counters.count_failure()
                    call.fail(Failure(executed.failure))
            for call, answer in executed.returned:
                call.on_answer(replace(answer, times=times), True)  # noqa: FBT003 - OnAnswer has two parameters
            for call in executed.again:
                call.flags &= ~SEQUENCE_START
            queue.put_back(executed.again)

    def _execute(self, instance: LoadedModel, batch: Sequence[Call]) -> tuple[Executed, Times]:
        """Execute and count a batch. Its answers go out by reference afterwards: there is no output time."""
        began_ns = time.monotonic_ns()
        requests = instance.requests(batch)
        ready_ns = time.monotonic_ns()
        executed = instance.execute(batch, requests)
        ended_ns = time.monotonic_ns()
        times = Times(ready_ns - began_ns, ended_ns - ready_ns)
        largest = self.config.get("max_batch_size", 0)
        self._counters.count_execution(sum(call.batch_size(largest) for call in batch), times)
        if not executed.failure:
            for call in batch:
                took = RequestTimes(ended_ns - call.queued_ns, began_ns - call.queued_ns, times)
                self._counters.count_request(took, call.batch_size(largest))
        return executed, times


def _load_instances(config: Config, model_dir: Path, version: int, host: Host) -> list[LoadedModel]:
    loaded: list[LoadedModel] = []
    try:
        for group in config["instance_group"]:
            if group.get("passive"):
                continue
            for count in range(group["count"]):
                kind = str(group["kind"]).removeprefix("KIND_")
                spec = InstanceSpec(config, model_dir, version, f"{group['name']}_{count}", kind)
                loaded.append(LoadedModel(spec, host))
    except CallFailedError:
        for instance in loaded:
            instance.finalize()
        raise
    return loaded
