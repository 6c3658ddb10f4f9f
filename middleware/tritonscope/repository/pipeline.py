"""A pipeline: the stages that do the work of an ensemble, and which of them waits for which, by tensor name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import NamedTuple

from tritonscope.errors import RepositoryError
from tritonscope.repository.stages import Repository, Stage, Step

Producers = frozenset[int]
_NOBODY: Producers = frozenset()
_NAMES_SHOWN = 8
# Far beyond any pipeline; ensembles that each use another one twice grow as the powers of two.
_MOST_NODES = 10_000
_DEEPEST = 100


class Node(NamedTuple):
    """One use of a stage in a pipeline; `after` are the numbers of the nodes whose tensors it takes."""

    stage: Stage
    version: int = -1
    after: Producers = _NOBODY


class Pipeline(NamedTuple):
    """Every use of a stage, each after those that it waits for; steps that are ensembles are taken apart."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def stages(self) -> list[Stage]:
        """The stages, each once, in the order in which a request meets them."""
        return list({node.stage.name: node.stage for node in self.nodes}.values())

    @property
    def layers(self) -> list[list[Node]]:
        """The nodes by the number of nodes that must end before them; those of one layer may run at once."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(1 + max((depths[number] for number in node.after), default=-1))
        return [
            [node for node, its in zip(self.nodes, depths, strict=True) if its == depth]
            for depth in range(max(depths, default=-1) + 1)
        ]

    def feeds(self, number: int) -> list[int]:
        """Return the numbers of the nodes that take what node `number` makes."""
        return [other for other, node in enumerate(self.nodes) if number in node.after]

    def longest(self, weight: Callable[[Node], float]) -> float:
        """Return the greatest sum of `weight` over nodes that wait for one another: the critical path's."""
        ends: list[float] = []
        for node in self.nodes:
            ends.append(weight(node) + max((ends[number] for number in node.after), default=0.0))
        return max(ends, default=0.0)

    def in_series(self, model: str) -> int:
        """Return how many times a request meets `model` one after the other; parallel uses count once."""
        return int(self.longest(lambda node: float(node.stage.name == model)))


def build_pipeline(name: str, repository: Repository) -> Pipeline:
    """Return the pipeline of the ensemble `name`; a model that is none makes a pipeline of one stage.

    Raises:
        RepositoryError: there is no such model, it or a step's model is broken or missing, or it is circular.
    """
    stage = repository.stages.get(name)
    if name in repository.broken:
        raise repository.broken[name]
    if stage is None:
        raise RepositoryError(f"there is no model '{name}'; found: {_names(repository.stages, name)}")
    if not stage.is_ensemble:
        return Pipeline(name, (Node(stage),))
    nodes: list[Node] = []
    _expand(stage, repository, {}, nodes, (name,))
    return Pipeline(name, tuple(nodes))


def missing_model(ensemble: Stage, step: Step, repository: Repository) -> RepositoryError:
    """Return the error that says which step of `ensemble` has no model, and which models there are."""
    where = f"ensemble '{ensemble.name}', step {ensemble.steps.index(step) + 1}"
    if step.model in repository.broken:
        return RepositoryError(f"{where}: model '{step.model}' is broken: {repository.broken[step.model]}")
    folder = f"{ensemble.path.parent.parent.name}/" if ensemble.path else "the repository"
    others = _names(repository.stages.keys() - {ensemble.name}, step.model)
    return RepositoryError(f"{where}: model '{step.model}' is not in {folder}; found: {others}")


def _expand(
    ensemble: Stage,
    repository: Repository,
    makers: dict[str, Producers],
    nodes: list[Node],
    above: tuple[str, ...],
) -> None:
    """Append the nodes of `ensemble`; `makers`, the nodes behind each of its tensors, gains those that are made."""
    for step in ordered_steps(ensemble):
        stage = repository.stages.get(step.model)
        if stage is None:
            raise missing_model(ensemble, step, repository)
        inputs = {own: makers.get(tensor, _NOBODY) for own, tensor in step.inputs.items()}
        if stage.is_ensemble:
            if stage.name in above:
                raise RepositoryError(
                    f"ensemble '{stage.name}' contains itself: {' -> '.join((*above, stage.name))}"
                )
            if len(above) == _DEEPEST:
                raise RepositoryError(f"ensemble '{above[0]}' nests more than {_DEEPEST} ensembles")
            _expand(stage, repository, inputs, nodes, (*above, stage.name))
            made = {own: inputs.get(own, _NOBODY) for own in step.outputs}
        else:
            made = dict.fromkeys(step.outputs, frozenset({len(nodes)}))
            if len(nodes) == _MOST_NODES:
                raise RepositoryError(
                    f"ensemble '{above[0]}' has more than {_MOST_NODES} steps, those inside included"
                )
            nodes.append(Node(stage, step.version, _NOBODY.union(*inputs.values())))
        makers.update({tensor: made[own] for own, tensor in step.outputs.items()})


def ordered_steps(ensemble: Stage) -> list[Step]:
    """Return the steps so that each follows those whose tensors it takes, whatever order the file has.

    Raises:
        RepositoryError: steps wait for each other's tensors.
    """
    made = {tensor for step in ensemble.steps for tensor in step.outputs.values()}
    waiting, there, order = list(ensemble.steps), set[str](), list[Step]()
    while waiting:
        ready = [step for step in waiting if not (set(step.inputs.values()) & made) - there]
        if not ready:
            stuck = ", ".join(str(ensemble.steps.index(step) + 1) for step in waiting)
            raise RepositoryError(f"ensemble '{ensemble.name}': steps {stuck} wait for each other's tensors")
        order += ready
        there |= {tensor for step in ready for tensor in step.outputs.values()}
        waiting = [step for step in waiting if step not in ready]
    return order


def _names(names: Iterable[str], wanted: str) -> str:
    """Return the names, of many only those most like `wanted`."""
    found = sorted(names)
    shown = found if len(found) <= _NAMES_SHOWN else sorted(get_close_matches(wanted, found, _NAMES_SHOWN, 0.0))
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return (", ".join(f"'{name}'" for name in shown) or "none") + more
