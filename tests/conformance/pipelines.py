"""Ensembles over the models beside, and requests to them: for what runs an ensemble's graph in its place."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tritonclient.utils import np_to_triton_dtype

from tests.conformance.cases import MODELS, Call, Case, Target
from tritonscope.repository.folder import read_repository
from tritonscope.repository.overlay import write_overlay
from tritonscope.repository.pipeline_model import plan_of, write_pipeline_model

_TENSOR = "{{ name: '{}' data_type: TYPE_{} dims: [ -1 ] {}}}"


class Step(NamedTuple):
    """A step as in `model: its input -> tensor -> its output`."""

    model: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    version: int = -1


class Ensemble(NamedTuple):
    """An ensemble of tensors of one dimension; `X?` is an optional input, `S:STRING` is no FP32."""

    steps: tuple[Step, ...]
    calls: tuple[Call, ...]
    inputs: tuple[str, ...] = ("X",)
    outputs: tuple[str, ...] = ("Y",)
    together: bool = False
    max_batch_size: int = 0

    def case(self, name: str) -> Case:
        return Case(name, "", self.calls, (), together=self.together)

    def config(self) -> str:
        inputs, outputs = (", ".join(map(_tensor, names)) for names in (self.inputs, self.outputs))
        steps = ", ".join(
            f"{{ model_name: '{step.model}' model_version: {step.version} "
            f"{_mapping('input_map', step.inputs)} {_mapping('output_map', step.outputs)} }}"
            for step in self.steps
        )
        return (
            f"platform: 'ensemble' max_batch_size: {self.max_batch_size}\n"
            f"input [ {inputs} ]\noutput [ {outputs} ]\nensemble_scheduling {{ step [ {steps} ] }}\n"
        )


def _tensor(told: str) -> str:
    name, _, data_type = told.rstrip("?").partition(":")
    return _TENSOR.format(name, data_type or "FP32", "optional: true " if told.endswith("?") else "")


def _mapping(field: str, tensors: dict[str, str]) -> str:
    return " ".join(f"{field} {{ key: '{own}' value: '{tensor}' }}" for own, tensor in tensors.items())


def _call(*wanted: str, **inputs: object) -> Call:
    arrays = {name: np.atleast_1d(np.array(value, np.float32)) for name, value in inputs.items()}
    return Call(arrays, requested_outputs=wanted)


def _step(model: str, source: str, target: str, *, own: tuple[str, str] = ("X", "Y"), version: int = -1) -> Step:
    return Step(model, {own[0]: source}, {own[1]: target}, version)


_NUMBERS = tuple(np.dtype(kind) for kind in ("?", *"BHIQbhilefd"))
_TYPES = {np_to_triton_dtype(kind): np.array([1, 0], kind) for kind in _NUMBERS}
_X = _call(X=[1, 2])
_TWO_ENDS = (_step("add_one", "X", "Y"), _step("raises", "X", "BAD"))

ENSEMBLES = {
    "serial": Ensemble((_step("add_one", "X", "a"), _step("add_one", "a", "Y")), (_X, _call(X=[]))),
    "any_order": Ensemble((_step("add_one", "a", "Y", version=1), _step("add_one", "X", "a")), (_X,)),
    "parallel": Ensemble(
        (
            Step("optional_input", {"X": "left", "Z": "right"}, {"Y": "Y"}),
            _step("add_one", "X", "left"),
            _step("inherited_execute", "X", "right"),
        ),
        (_X,),
    ),
    "wide": Ensemble(
        tuple(_step("add_one", "X", f"Y{number}") for number in range(8)),
        (_X, _call("Y3", "Y1", X=1)),
        outputs=tuple(f"Y{number}" for number in range(8)),
    ),
    "nested": Ensemble((_step("serial", "X", "a"), _step("nested_once", "a", "Y")), (_X,)),
    "nested_once": Ensemble((_step("serial", "X", "a"), _step("add_one", "a", "Y")), (_X,)),
    "two_ends": Ensemble(_TWO_ENDS, (_call("Y", X=1), _call("BAD", X=1), _X), outputs=("Y", "BAD")),
    "nested_ends": Ensemble(
        (Step("two_ends", {"X": "X"}, {"Y": "Y", "BAD": "BAD"}),), (_call("Y", X=1),), outputs=("Y", "BAD")
    ),
    "raising": Ensemble((_step("add_one", "X", "a"), _step("raises", "a", "b"), _step("add_one", "b", "Y")), (_X,)),
    "answering_error": Ensemble((_step("add_one", "X", "a"), _step("error_response", "a", "Y")), (_X,)),
    "nested_error": Ensemble((_step("answering_error", "X", "a"), _step("add_one", "a", "Y")), (_X,)),
    "lacking": Ensemble((_step("missing_output", "X", "a"), _step("add_one", "a", "Y")), (_X,)),
    "lacking_the_last": Ensemble((_step("missing_output", "X", "Y"),), (_X,)),
    "optional": Ensemble(
        (Step("optional_input", {"X": "X", "Z": "Z"}, {"Y": "Y"}),),
        (_call(X=3, Z=4), _call(X=3), _call(Z=3)),
        inputs=("X", "Z?"),
    ),
    "optional_to_required": Ensemble(
        (_step("add_one", "Z", "a"), Step("optional_input", {"X": "X", "Z": "a"}, {"Y": "Y"})),
        (_call(X=3, Z=4), _call(X=3)),
        inputs=("X", "Z?"),
    ),
    "fields": Ensemble(
        (_step("request_fields", "X", "T", own=("X", "T")),),
        (
            _X,
            _X._replace(request_id="first", parameters={"text": "a", "number": 1, "flag": True}),
            _X._replace(sequence={"id": 5, "start": True, "end": True}),
            _X._replace(sequence={"id": "five", "start": True}),
            _X._replace(timeout_us=3_000_000),
        ),
        outputs=("T:STRING",),
    ),
    "types": Ensemble(
        (
            Step("every_type", {name: f"in {name}" for name in _TYPES}, {f"OUT_{n}": f"a {n}" for n in _TYPES}),
            Step("every_type", {name: f"a {name}" for name in _TYPES}, {f"OUT_{n}": f"out {n}" for n in _TYPES}),
        ),
        (Call({f"in {name}": array for name, array in _TYPES.items()}),),
        inputs=tuple(f"in {name}:{name}" for name in _TYPES),
        outputs=tuple(f"out {name}:{name}" for name in _TYPES),
    ),
    "refusing": Ensemble((_step("add_one", "X", "Y"),), (Call({"Q": np.ones(1, np.float32)}), _call("Q", X=1))),
    "many_at_once": Ensemble((_step("add_one", "X", "a"), _step("add_one", "a", "Y")), (_X,) * 40, together=True),
}
"""The ensembles by name; steps are models beside, or other ensembles here."""


def write_pipelines(folder: Path) -> Path:
    """Write the ensembles and the models that they need to `folder`, and return it."""
    models = {step.model for ensemble in ENSEMBLES.values() for step in ensemble.steps} - ENSEMBLES.keys()
    for model in models:
        shutil.copytree(MODELS / model, folder / model, ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    for name, ensemble in ENSEMBLES.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "config.pbtxt").write_text(ensemble.config())
    return folder


def overlay_with_pipelines(source: Path, out: Path) -> Path:
    """Write an overlay of `source` in which each of the ensembles is a Python model, and return it."""
    repository = read_repository(source)
    instead = {
        name: partial(write_pipeline_model, repository.stages[name], plan_of(name, repository), 1)
        for name in ENSEMBLES
    }
    entries = {name: stage.entry for name, stage in repository.stages.items() if stage.is_python}
    return write_overlay(source, out, entries, instead=instead, copy=True).root


def answers(target: Target, name: str) -> list[dict[str, Any]]:
    """Return what the calls of the ensemble `name` come back with, without codes: BLS on 2.51 loses them."""
    case = ENSEMBLES[name].case(name)
    groups = [case.calls] if case.together else [(call,) for call in case.calls]
    told = [answer for group in groups for answer in target.call(name, group, case)]
    for response in (response for answer in told for response in answer["responses"]):
        response.pop("code", None)
    return told
