"""What a model repository says about each model: its backend, instances, batching and, for an ensemble, steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from tritonscope.errors import RepositoryError
from tritonscope.repository.code.facts import Code

_ON_GPUS = {"AUTO", "GPU"}


class InstanceGroup(msgspec.Struct, frozen=True):
    """One `instance_group` with the count that Triton gives it; `gpus` is empty where none are named."""

    kind: str
    count: int
    gpus: tuple[int, ...] = ()
    passive: bool = False


class InstanceCount(NamedTuple):
    """How many instances serve requests: `fixed`, and `per_gpu` more for each GPU that the server sees."""

    fixed: int
    per_gpu: int = 0

    @property
    def known(self) -> int | None:
        """The number, None where it depends on the machine."""
        return None if self.per_gpu else self.fixed

    def on(self, gpus: int) -> int:
        """Return the number on a machine with `gpus` GPUs, 1 or more."""
        return self.fixed + self.per_gpu * gpus

    def __str__(self) -> str:
        if not self.per_gpu:
            return str(self.fixed)
        return f"unknown: {f'{self.fixed} + ' if self.fixed else ''}{self.per_gpu} per GPU"


class Batching(NamedTuple):
    """`dynamic_batching`."""

    preferred_sizes: tuple[int, ...] = ()
    max_queue_delay_us: int = 0


class SequenceBatching(NamedTuple):
    """`sequence_batching`: requests of one sequence meet one instance, in their order.

    `strategy` is `direct` (a slot of an instance for each sequence) or `oldest` (sequences form dynamic batches).
    """

    strategy: str
    max_idle_us: int
    preferred_sizes: tuple[int, ...] = ()
    max_queue_delay_us: int = 0
    max_candidates: int = 0
    is_iterative: bool = False
    states: int = 0


class Tensor(NamedTuple):
    """An input or output: its data type without `TYPE_`, and its dimensions without the batch's (-1: any)."""

    name: str
    data_type: str
    dims: tuple[int, ...]
    is_optional: bool = False


class Placeholder(NamedTuple):
    """What a template leaves open: as it is written, the field that it is in, and the line."""

    text: str
    field: str
    line: int


class Step(NamedTuple):
    """One step of an ensemble: tensors of the model -> tensors of the ensemble, for inputs and for outputs."""

    model: str
    version: int
    inputs: dict[str, str]
    outputs: dict[str, str]


class Stage(NamedTuple):
    """One model.

    `groups` is empty if its file has none, `steps` unless it is an ensemble; `text` is the file's. `placeholders`
    are what a template leaves open (a field whose value is open counts as not written), `problems` what is wrong
    with a file that was read all the same. `code` is what a Python model's syntax tree tells, if it is at hand.
    """

    name: str
    backend: str
    max_batch_size: int
    groups: tuple[InstanceGroup, ...]
    batching: Batching | None = None
    decoupled: bool = False
    steps: tuple[Step, ...] = ()
    entry: str = "model.py"
    path: Path | None = None
    text: str = ""
    sequences: SequenceBatching | None = None
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    parameters: Mapping[str, str] = {}
    versions: tuple[int, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    problems: tuple[RepositoryError, ...] = ()
    code: Code | None = None

    @property
    def is_template(self) -> bool:
        """Whether its file leaves values open, so that no server runs it as it is."""
        return bool(self.placeholders)

    @property
    def is_python(self) -> bool:
        """Whether its code runs in the Python backend."""
        return self.backend == "python"

    @property
    def is_ensemble(self) -> bool:
        """Whether it is a pipeline of other models."""
        return self.backend == "ensemble"

    @property
    def is_on_cpu(self) -> bool:
        """Whether all of its instances are on the CPU, whatever GPUs the server sees."""
        return bool(self.groups) and all(group.kind == "CPU" for group in self.groups)

    @property
    def batches_dynamically(self) -> bool:
        """Whether Triton gathers requests into batches; without a `max_batch_size` the setting means nothing."""
        return self.batching is not None and self.max_batch_size > 1

    @property
    def instances(self) -> InstanceCount:
        """How many instances serve requests (`NormalizeInstanceGroup` of Triton's core).

        A group on GPUs counts once for each GPU that it lists, or for each that is visible when it lists none. A
        group of kind AUTO, and a missing one, run on all GPUs, or once on the CPU of a machine without any.
        """
        if not self.groups:
            return InstanceCount(0, 0 if self.is_ensemble else 1)
        fixed = per_gpu = 0
        for group in self.groups:
            if group.passive:
                continue
            if group.kind not in _ON_GPUS:
                fixed += group.count
            elif group.gpus:
                fixed += group.count * len(group.gpus)
            else:
                per_gpu += group.count
        return InstanceCount(fixed, per_gpu)


class Repository(NamedTuple):
    """All models by name, and what is wrong: configurations that do not parse, steps without a model.

    `broken` has the models that are not among `stages` because their configuration does not parse. `notes` is worth
    knowing and no fault: templates, and what of the calls between models is not known.
    """

    stages: dict[str, Stage]
    problems: tuple[RepositoryError, ...] = ()
    broken: Mapping[str, RepositoryError] = {}
    notes: tuple[str, ...] = ()

    @property
    def ensembles(self) -> dict[str, Stage]:
        """The pipelines among the models."""
        return {name: stage for name, stage in self.stages.items() if stage.is_ensemble}
