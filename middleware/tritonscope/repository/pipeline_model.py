"""From an ensemble to the folder of a Python model with the same interface that runs the ensemble's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2

from tritonscope.errors import RepositoryError
from tritonscope.pipeline.plan import PLAN, Plan, PlannedCall, write_plan
from tritonscope.repository.backends import PYTHON, PYTHON_FILE
from tritonscope.repository.checks import check_ensemble
from tritonscope.repository.config import parse_text
from tritonscope.repository.pipeline import build_pipeline, ordered_steps
from tritonscope.repository.stages import Repository, Stage, Step

# A tensor's name in an ensemble -> its name in the pipeline.
_Names = Callable[[str], str]

_CODE = '''"""The pipeline {name}, written by `tritonscope wrap --pipeline`; {plan} beside it says what it does."""

from tritonscope.pipeline.model import TritonPythonModel

__all__ = ["TritonPythonModel"]
'''


def plan_of(name: str, repository: Repository) -> Plan:
    """Return what the model of the ensemble `name` has to do.

    Raises:
        RepositoryError: it is no ensemble, Triton would refuse it, or a part of it is a template or decoupled.
    """
    pipeline = build_pipeline(name, repository)
    ensemble = repository.stages[name]
    if not ensemble.is_ensemble:
        raise RepositoryError(f"model '{name}' is no ensemble: it runs on {ensemble.backend or 'no known backend'}")
    for stage in (ensemble, *pipeline.stages):
        _check(stage, ensemble)
    if problems := check_ensemble(ensemble, repository):
        raise problems[0]
    required = tuple(tensor.name for tensor in ensemble.inputs if not tensor.is_optional)
    outputs = tuple(tensor.name for tensor in ensemble.outputs)
    return Plan(name, required, outputs, tuple(_Flattener(repository).calls(ensemble)))


def write_pipeline_model(ensemble: Stage, plan: Plan, instances: int, folder: Path) -> None:
    """Write the model that runs `plan` in place of `ensemble` to `folder`, with that many instances."""
    folder.mkdir(parents=True)
    (folder / "config.pbtxt").write_text(_config(ensemble, instances))
    for version in ensemble.versions or (1,):
        (folder / str(version)).mkdir()
        (folder / str(version) / PYTHON_FILE).write_text(_CODE.format(name=plan.pipeline, plan=PLAN))
        write_plan(plan, folder / str(version))


def _check(stage: Stage, ensemble: Stage) -> None:
    if stage.is_template:
        raise RepositoryError(f"'{stage.name}' of ensemble '{ensemble.name}' is a template: fill it in first")
    if stage.decoupled:
        raise RepositoryError(
            f"'{stage.name}' of ensemble '{ensemble.name}' is decoupled: it may answer any number of times, and "
            "the Python model would have to answer once; leave this ensemble as it is"
        )


def _config(ensemble: Stage, instances: int) -> str:
    """Return the ensemble's own configuration, with a Python model's way to run in place of the steps."""
    message = parse_text(ensemble.text, ensemble.path or Path(ensemble.name))
    message.ClearField("platform")
    message.ClearField("ensemble_scheduling")
    message.name, message.backend = ensemble.name, PYTHON
    message.instance_group.add(kind=model_config_pb2.ModelInstanceGroup.KIND_CPU, count=instances)
    if message.max_batch_size:
        # Not to gather requests, which run apart, but for an instance to take along all that wait.
        message.dynamic_batching.SetInParent()
    text = text_format.MessageToString(message)
    return f"# Made of the ensemble's configuration by `tritonscope wrap --pipeline`.\n{text}"


class _Flattener:
    """Takes nested ensembles apart."""

    def __init__(self, repository: Repository) -> None:
        self._stages = repository.stages
        self._uses = 0

    def calls(self, ensemble: Stage) -> list[PlannedCall]:
        """Return the calls of all steps."""
        return [
            call
            for number, step in enumerate(ordered_steps(ensemble))
            for call in self._step(step, lambda tensor: tensor, number, ())
        ]

    def _step(self, step: Step, names: _Names, number: int, within: tuple[str, ...]) -> Iterator[PlannedCall]:
        stage = self._stages[step.model]
        inputs = {own: names(tensor) for own, tensor in step.inputs.items()}
        outputs = {own: names(tensor) for own, tensor in step.outputs.items()}
        if not stage.is_ensemble:
            yield PlannedCall(step.model, step.version, inputs, outputs, number, within)
            return
        inner = self._names_inside(stage, {**inputs, **outputs})
        for each in _needed(stage, set(outputs)):
            yield from self._step(each, inner, number, (*within, stage.name))

    def _names_inside(self, ensemble: Stage, outside: Mapping[str, str]) -> _Names:
        """Return how the tensors of one use of `ensemble` are called: as outside of it, else as nowhere else."""
        self._uses += 1
        use = f"{ensemble.name}#{self._uses}"
        return lambda tensor: outside.get(tensor, f"{use}/{tensor}")


def _needed(ensemble: Stage, wanted: set[str]) -> list[Step]:
    """Return the steps that lead to the tensors `wanted`, as Triton runs no others."""
    steps = []
    for step in reversed(ordered_steps(ensemble)):
        if wanted & set(step.outputs.values()):
            steps.append(step)
            wanted = wanted | set(step.inputs.values())
    return steps[::-1]
