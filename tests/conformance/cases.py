"""The cases of models/: how a model is called, and what came back; the format is described in README.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from tritonclient.utils import np_to_triton_dtype, triton_to_np_dtype

MODELS = Path(__file__).parent / "models"


class Call(NamedTuple):
    """One request."""

    inputs: dict[str, np.ndarray]
    request_id: str = ""
    parameters: dict[str, Any] | None = None
    requested_outputs: tuple[str, ...] = ()
    sequence: dict[str, Any] | None = None
    timeout_us: int = 0
    cancel_after: int = 0


class Case(NamedTuple):
    """One model and the requests to it."""

    name: str
    about: str
    calls: tuple[Call, ...]
    needs: tuple[str, ...] = ()
    load: str = "ok"
    together: bool = False
    stream: bool = False
    unload: bool = False
    patience_s: float = 20

    @property
    def seen(self) -> dict[str, Any]:
        """What the real server did."""
        return json.loads((MODELS / self.name / "seen.json").read_text())


class Target(Protocol):
    """Something that models can be loaded into and called on."""

    def load(self, model: str) -> str:
        """Load a model and return '' or why it did not load."""

    def unload(self, model: str) -> str:
        """Unload a model and return '' or why it did not unload."""

    def call(self, model: str, calls: Sequence[Call], case: Case) -> list[dict[str, Any]]:
        """Send the calls, all before the first answer is awaited, and return the `answer` of each."""


def read_case(name: str) -> Case:
    """Return the case of this name."""
    document = json.loads((MODELS / name / "case.json").read_text())
    calls = tuple(_call(each) for each in document.pop("calls"))
    needs = tuple(document.pop("needs", ()))
    return Case(name=name, calls=calls, needs=needs, **document)


def case_names() -> list[str]:
    """Return the names of all cases."""
    return sorted(path.parent.name for path in MODELS.glob("*/case.json"))


def run_case(target: Target, case: Case) -> dict[str, Any]:
    """Load, call and unload the case's model on a target, and return what happened."""
    for other in case.needs:
        assert target.load(other) == "", f"{case.name} needs {other}"
    seen: dict[str, Any] = {"load": target.load(case.name), "calls": []}
    batches = [case.calls] if case.together else [(call,) for call in case.calls]
    for batch in batches:
        seen["calls"] += target.call(case.name, batch, case)
    if case.unload:
        seen["unload"] = target.unload(case.name)
    return seen


def answer(responses: Sequence[dict[str, Any]], *, final: bool = True) -> dict[str, Any]:
    """Return all that one call got; `final` is False if the caller gave up waiting."""
    return {"responses": list(responses), "final": final}


def good(outputs: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return a response with tensors."""
    return {"outputs": {name: _described(array) for name, array in sorted(outputs.items())}}


def bad(message: str, code: str = "") -> dict[str, Any]:
    """Return a response with an error, its code if the target tells it, its text up to the stack in it."""
    return {"error": text(message), **({"code": code} if code else {})}


def text(message: str) -> str:
    """Return an error's text without the stack (`At:` and what follows) that Triton adds to Python's exceptions."""
    message = message.partition("\n\nAt:")[0].strip().rstrip(";").strip()
    return message.replace(str(MODELS), "MODELS")


def agrees(told: Any, seen: Any) -> bool:
    """Whether two runs of a case are the same; a code counts only if both tell one."""
    return _without_codes(told, seen) == _without_codes(seen, told)


def _without_codes(run: Any, other: Any) -> Any:
    if isinstance(run, dict) and isinstance(other, dict):
        return {key: _without_codes(run[key], other.get(key)) for key in run if key != "code" or key in other}
    if isinstance(run, list) and isinstance(other, list) and len(run) == len(other):
        return [_without_codes(mine, theirs) for mine, theirs in zip(run, other, strict=True)]
    return run


def _call(document: dict[str, Any]) -> Call:
    inputs = {name: _array(**each) for name, each in document["inputs"].items()}
    requested = tuple(document.get("requested_outputs", ()))
    rest = {key: value for key, value in document.items() if key not in {"inputs", "requested_outputs"}}
    return Call(inputs=inputs, requested_outputs=requested, **rest)


def _array(datatype: str, shape: list[int], data: list[Any]) -> np.ndarray:
    if datatype == "BYTES":
        data = [each.encode() for each in data]
    return np.array(data, dtype=triton_to_np_dtype(datatype)).reshape(shape)


def _described(array: np.ndarray) -> dict[str, Any]:
    data = array.reshape(-1).tolist()
    if array.dtype == np.object_:
        data = [each.decode("utf-8", "backslashreplace") for each in data]
    return {"datatype": np_to_triton_dtype(array.dtype), "shape": list(array.shape), "data": data}
