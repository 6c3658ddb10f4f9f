"""What Triton refuses in an ensemble beyond missing models and circles, by the rules of its core.

Rules: `ValidateEnsembleSchedulingConfig` and `ValidateEnsembleConfig`. A model whose file names no tensors gets
them from its backend when it is loaded; its mappings are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.pipeline import build_pipeline, ordered_steps
from tritonscope.repository.stages import Repository, Stage, Step, Tensor


def check_ensemble(ensemble: Stage, repository: Repository) -> list[ConfigError]:
    """Return what is wrong with the tensors, batch sizes and settings of `ensemble`."""
    found = [*_own(ensemble), *_flow(ensemble), *_decoupled(ensemble, repository)]
    seen = {tensor.name: (tensor, ensemble.name) for tensor in (*ensemble.inputs, *ensemble.outputs)}
    for number, step in enumerate(ensemble.steps, 1):
        model = repository.stages.get(step.model)
        if model is not None:
            found += [f"step {number}: {what}" for what in _step(ensemble, step, model, seen)]
    return [ConfigError(f"ensemble '{ensemble.name}', {what}") for what in found]


def _own(ensemble: Stage) -> Iterator[str]:
    if ensemble.groups:
        yield "instance_group: an ensemble has no instances; give them to the models of its steps"
    if not ensemble.steps:
        yield "ensemble_scheduling: there is no step"
    for number, step in enumerate(ensemble.steps, 1):
        if not step.model:
            yield f"step {number}: there is no model_name"
        if not step.inputs:
            yield f"step {number}: there is no input_map"
        if not step.outputs:
            yield f"step {number}: there is no output_map"


def _flow(ensemble: Stage) -> Iterator[str]:
    """Tell which tensors nobody makes, two steps make, or nobody takes."""
    given = {tensor.name for tensor in ensemble.inputs}
    wanted = {tensor.name for tensor in ensemble.outputs}
    made = [tensor for step in ensemble.steps for tensor in step.outputs.values()]
    taken = {tensor for step in ensemble.steps for tensor in step.inputs.values()}
    if not ensemble.steps or not (given and wanted):
        return
    yield from (f"tensor '{name}': two steps make it" for name in sorted({n for n in made if made.count(n) > 1}))
    yield from (f"tensor '{name}': no step makes it" for name in sorted((taken | wanted) - given - set(made)))
    yield from (f"tensor '{name}': no step takes it" for name in sorted((given | set(made)) - taken - wanted))


def _decoupled(ensemble: Stage, repository: Repository) -> Iterator[str]:
    """Tell what joins tensors of different decoupled models: nobody knows how many answers belong together."""
    makers: dict[str, int] = {}  # a tensor -> the number of the decoupled step that it comes from, 0 without one
    try:
        steps = ordered_steps(ensemble)
    except RepositoryError:  # told where the pipeline is built
        return
    for number, step in enumerate(steps, 1):
        origins = {makers.get(tensor, 0) for tensor in step.inputs.values()}
        if len(origins) > 1:
            where = f"step {ensemble.steps.index(step) + 1}"
            yield f"{where}: '{step.model}' joins answers of different decoupled models"
        origin = number if _is_decoupled(step.model, repository) else max(origins, default=0)
        makers.update(dict.fromkeys(step.outputs.values(), origin))
    if len({makers.get(tensor.name, 0) for tensor in ensemble.outputs}) > 1:
        yield "output: the tensors are of different decoupled models"


def _is_decoupled(model: str, repository: Repository) -> bool:
    """Tell whether a model may answer other than once; an ensemble does if one of its models does."""
    try:
        return any(stage.decoupled for stage in build_pipeline(model, repository).stages)
    except RepositoryError:
        return False


def _step(ensemble: Stage, step: Step, model: Stage, seen: dict[str, tuple[Tensor, str]]) -> Iterator[str]:
    its = f"model '{model.name}'"
    if model.max_batch_size and model.max_batch_size < ensemble.max_batch_size and not model.is_template:
        yield f"{its} takes batches of {model.max_batch_size}, the ensemble of {ensemble.max_batch_size}"
    if step.version > 0 and model.versions and step.version not in model.versions:
        yield f"{its} has no version {step.version}; found: {', '.join(map(str, model.versions))}"
    if model.inputs:
        yield from _unknown(step.inputs, model.inputs, f"{its} has no input")
        mapped = {tensor.name for tensor in model.inputs if tensor.is_optional} | step.inputs.keys()
        yield from (
            f"input '{tensor.name}' of {its} gets nothing" for tensor in model.inputs if tensor.name not in mapped
        )
    if model.outputs:
        yield from _unknown(step.outputs, model.outputs, f"{its} has no output")
    for mapping, tensors in ((step.inputs, model.inputs), (step.outputs, model.outputs)):
        yield from _types(mapping, tensors, model.name, seen)


def _unknown(mapping: Mapping[str, str], tensors: tuple[Tensor, ...], what: str) -> Iterator[str]:
    names = {tensor.name for tensor in tensors}
    yield from (f"{what} '{name}'" for name in sorted(mapping.keys() - names))


def _types(
    mapping: Mapping[str, str], tensors: tuple[Tensor, ...], model: str, seen: dict[str, tuple[Tensor, str]]
) -> Iterator[str]:
    """Compare the data types of the ensemble's tensors, as the first that names one gives it, and add new ones."""
    for tensor in tensors:
        name = mapping.get(tensor.name)
        if name is None or tensor.data_type == "INVALID":
            continue
        other, owner = seen.setdefault(name, (tensor, model))
        if other.data_type not in {tensor.data_type, "INVALID"}:
            yield f"tensor '{name}' is {other.data_type} of '{owner}' and {tensor.data_type} of '{model}'"
