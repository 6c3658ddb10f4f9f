"""The server as model code sees it, and the process of its instance: what BLS, metrics and logging call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tritonscope.testing.backend.errors import TritonModelException

if TYPE_CHECKING:
    from tritonscope.testing.backend.metric_registry import MetricRegistry
    from tritonscope.testing.backend.requests import InferenceRequest
    from tritonscope.testing.traffic import OnAnswer


class LogLine(NamedTuple):
    """One line that a model logged; `level` is INFO, WARNING, ERROR or VERBOSE."""

    level: str
    message: str
    file: str = ""
    line: int = 0


class Host(Protocol):
    """What the running server does for model code. Failures of model control raise CallFailedError."""

    @property
    def metrics(self) -> MetricRegistry:
        """The custom metrics of all models."""

    def execute_bls(self, request: InferenceRequest, on_answer: OnAnswer, *, decoupled: bool) -> None:
        """Start a request that a model made; whatever goes wrong is an answer too."""

    def load_model(self, name: str, config: str, files: Mapping[str, bytes]) -> None:
        """Load or reload a model, optionally with another configuration (JSON) and other files."""

    def unload_model(self, name: str, *, dependents: bool) -> None:
        """Unload a model, and on request the models that only an ensemble of this name needed."""

    def is_model_ready(self, name: str, version: str) -> bool:
        """Whether a version of a model answers requests."""

    def log(self, line: LogLine) -> None:
        """Take a line that a model logged."""


class StubState:
    """What the process of one instance of a Python model knows about itself."""

    def __init__(self, instance: str, model_dir: str, host: Host, *, decoupled: bool) -> None:
        self.instance = instance
        self.model_dir = model_dir
        self.host = host
        self.decoupled = decoupled
        self.initialized = False
        self.finalizing = False


_here = threading.local()
_stubs: list[StubState] = []


@contextmanager
def running(stub: StubState) -> Iterator[None]:
    """Mark what this thread runs as code of `stub`'s model."""
    outer: StubState | None = getattr(_here, "stub", None)
    _here.stub = stub
    try:
        yield
    finally:
        _here.stub = outer


def marked(stub: StubState, target: Callable[[], None]) -> Callable[[], None]:
    """Return `target`, to be run in a thread of its own, marked as code of `stub`'s model."""

    def run() -> None:
        with running(stub):
            target()

    return run


def current_stub() -> StubState:
    """Return the stub whose model's code this thread runs.

    A thread that a model started itself bears no mark: it gets the stub that was loaded last.

    Raises:
        TritonModelException: no model is loaded.
    """
    stub: StubState | None = getattr(_here, "stub", None)
    if stub is None and not _stubs:
        raise TritonModelException("This call works only in a model that an InProcessServer has loaded.")
    return stub or _stubs[-1]


def register(stub: StubState) -> None:
    """Make a stub known before its model's first line runs."""
    _stubs.append(stub)


def forget(stub: StubState) -> None:
    """Forget a stub whose model is gone."""
    if stub in _stubs:
        _stubs.remove(stub)
