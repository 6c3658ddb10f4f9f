"""InProcessServer: a model repository served in this process, without tritonserver, for tests and demos."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from tritonscope.errors import RepositoryError, UsageError
from tritonscope.evidence import StatisticsSample
from tritonscope.testing.backend.host import LogLine
from tritonscope.testing.backend.metric_registry import MetricRegistry
from tritonscope.testing.backend.modules import installed
from tritonscope.testing.modelfiles import leave
from tritonscope.testing.modelhost import ModelHost
from tritonscope.testing.result import Pending, Result
from tritonscope.testing.tracecontext import child_context
from tritonscope.testing.traffic import SEQUENCE_END, SEQUENCE_START, Call, CallFailedError, OnAnswer, Parameter

Arrays = Mapping[str, "np.ndarray[Any, Any]"]
_one_at_a_time = threading.Lock()


class InProcessServer:
    """Serves the models of a repository in this process; use it as a context manager.

    Models see `triton_python_backend_utils` as on a real server: batches, BLS, ensembles, decoupled responses.
    All instances share this process and its GIL, and there is no shared memory, no GPU and no network.

    Args:
        repository: The model repository.
        models: Load only these, under explicit model control. Default: all, and models cannot load others.
        opentelemetry: Give requests a trace context, as `--trace-config mode=opentelemetry` does.

    Raises:
        RepositoryError: (on entry) a model does not load; the message ends in Triton's own text.
        UsageError: (on entry) another InProcessServer runs in this process.
    """

    def __init__(
        self, repository: Path | str, *, models: Sequence[str] | None = None, opentelemetry: bool = False
    ) -> None:
        self._models = models
        self._opentelemetry = opentelemetry
        self._host = ModelHost(Path(repository), explicit=models is not None)
        self._cleanup = ExitStack()

    def __enter__(self) -> InProcessServer:
        if not _one_at_a_time.acquire(blocking=False):
            raise UsageError("an InProcessServer already runs in this process: leave its `with` block first")
        with ExitStack() as cleanup:
            cleanup.callback(_one_at_a_time.release)
            cleanup.enter_context(installed())
            cleanup.callback(leave)
            cleanup.callback(self._host.repository.close)
            self._host.repository.load_all(self._models)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.close()

    @property
    def metrics(self) -> MetricRegistry:
        """The custom metrics that models have made."""
        return self._host.metrics

    @property
    def log_lines(self) -> list[LogLine]:
        """What models have logged, and the exceptions of their `execute`; it also goes to Python's logging."""
        return self._host.log_lines

    def infer(self, model: str, inputs: Arrays, *, timeout_s: float = 30.0, **options: Any) -> Result:
        """Send a request and wait for all its responses; `options` are those of `start`.

        Raises:
            TimeoutError: the last response has not come within `timeout_s`.
        """
        return self.start(model, inputs, **options).result(timeout_s)

    def start(
        self,
        model: str,
        inputs: Arrays,
        *,
        version: int = -1,
        request_id: str = "",
        parameters: Mapping[str, Parameter] | None = None,
        requested_outputs: Sequence[str] = (),
        sequence_id: int | str = 0,
        sequence_start: bool = False,
        sequence_end: bool = False,
        timeout_us: int = 0,
        traceparent: str = "",
        on_response: OnAnswer | None = None,
    ) -> Pending:
        """Send a request and return at once; wait with `result()`, or `cancel()` it.

        Args:
            model: Name of the model.
            inputs: Arrays by name; BYTES are arrays of dtype `object`.
            version: Version of the model; default: the latest.
            request_id: Id of the request.
            parameters: Parameters of the request.
            requested_outputs: Names of outputs; default: all.
            sequence_id: Correlation id.
            sequence_start: This is the first request of its sequence.
            sequence_end: This is the last request of its sequence.
            timeout_us: What the client allows, in microseconds; models see it, nothing enforces it.
            traceparent: W3C header, put among the parameters as Triton's header forwarding does.
            on_response: Is told every answer as it comes, in the thread that sends it.
        """
        pending = Pending()

        def on_answer(answer: Any, final: bool) -> None:
            pending.take(answer, final)
            if on_response is not None:
                on_response(answer, final)

        flags = SEQUENCE_START * sequence_start | SEQUENCE_END * sequence_end
        forwarded: dict[str, Parameter] = {"traceparent": traceparent} if traceparent else {}
        call = Call(
            model, dict(inputs), on_answer, version, tuple(requested_outputs), request_id, sequence_id, flags,
            timeout_us, {**(parameters or {}), **forwarded}, cancelled=pending.cancelled,
        )  # fmt: skip
        if self._opentelemetry:
            call.trace_context = traceparent or child_context("")
        self._submit_or_fail(call)
        return pending

    def statistics(self) -> StatisticsSample:
        """Return all models' counters now, as the analyzer reads them."""
        models = tuple(served.statistics() for served in self._host.repository.all_served())
        return StatisticsSample(time.monotonic_ns(), models, origin="in-process")

    def instances(self, model: str) -> list[Any]:
        """Return the user's objects, one for each instance of the model's latest version.

        Raises:
            UsageError: there is no such Python model.
        """
        try:
            served = self._host.repository.find(model, -1)
            return [loaded.instance for loaded in served.instances]  # type: ignore[union-attr]
        except (CallFailedError, AttributeError):
            raise UsageError(f"no Python model {model!r} is loaded") from None

    def load(self, model: str, config: str = "") -> None:
        """Load or reload a model, with the configuration in `config` (JSON) if it is given.

        Raises:
            RepositoryError: it does not load.
        """
        try:
            self._host.repository.load(model, config, {})
        except CallFailedError as error:
            raise RepositoryError(error.failure.message) from None

    def unload(self, model: str) -> None:
        """Unload a model; its instances finish what they have and are finalized."""
        self._host.repository.unload(model, dependents=False)

    def _submit_or_fail(self, call: Call) -> None:
        try:
            self._host.submit(call)
        except CallFailedError as error:
            call.fail(error.failure)


def serve(repository: Path | str, **options: Any) -> InProcessServer:
    """Return an InProcessServer on `repository`, for a `with` statement; options are those of the class."""
    return InProcessServer(repository, **options)
