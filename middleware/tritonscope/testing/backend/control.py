"""The module functions by which a model loads, unloads and asks for other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tritonscope.testing.backend.errors import TritonModelException
from tritonscope.testing.backend.host import Host, StubState, current_stub
from tritonscope.testing.traffic import CallFailedError

Answer = TypeVar("Answer")


def get_model_dir() -> str:
    """Return the folder of the model's version, where its model.py is."""
    return current_stub().model_dir


def load_model(model_name: str, config: str = "", files: dict[str, bytes] | None = None) -> None:
    """Load or reload a model; only under explicit model control.

    Raises:
        TritonModelException: the model does not load.
    """
    for content in (files or {}).values():
        if not isinstance(content, bytes):
            raise TypeError(f"Object of type '{type(content).__name__}' is not an instance of 'bytes'")
    _ask("Failed to load model", lambda host: host.load_model(model_name, config, files or {}))


def unload_model(model_name: str, unload_dependents: bool = False) -> None:
    """Unload a model; only under explicit model control.

    Raises:
        TritonModelException: there is no such model.
    """
    _ask("Failed to unload model", lambda host: host.unload_model(model_name, dependents=unload_dependents))


def is_model_ready(model_name: str, model_version: str = "") -> bool:
    """Whether a version of a model, the latest by default, answers requests.

    Raises:
        TritonModelException: `model_version` is not a number.
    """
    return _ask("Failed to check model readiness", lambda host: host.is_model_ready(model_name, model_version))


def async_event_future_done_callback(py_future: Any) -> None:
    """Do nothing; the real one reports what a background coroutine raised, as the runtime does here itself."""


def _ask(what: str, question: Callable[[Host], Answer]) -> Answer:
    stub: StubState = current_stub()
    try:
        return question(stub.host)
    except CallFailedError as error:
        raise TritonModelException(
            f"{what}: Failed to process the request for model '{stub.instance}', message: {error.failure.message}"
        ) from None
