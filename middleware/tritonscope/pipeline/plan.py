"""What a pipeline's model does: the calls of an ensemble, by the names of their tensors."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

PLAN = "pipeline.json"


class PlannedCall(msgspec.Struct, frozen=True):
    """A call of a model: tensors of the model -> tensors of the pipeline, for its inputs and for its outputs.

    `step` is the number, from 0, of the ensemble's own step that the call belongs to, and `within` names the nested
    ensembles around it, from the outside to the inside.
    """

    model: str
    version: int
    inputs: dict[str, str]
    outputs: dict[str, str]
    step: int
    within: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """The calls of a pipeline, each after those whose tensors it takes, and its inputs but the optional ones."""

    pipeline: str
    required: tuple[str, ...]
    outputs: tuple[str, ...]
    calls: tuple[PlannedCall, ...]

    def needed(self, wanted: Collection[str]) -> list[PlannedCall]:
        """Return the calls that lead to the tensors `wanted`.

        As in Triton, a step is needed as a whole: one that is an ensemble makes all that it is asked for.
        """
        tensors, steps = set(wanted), set[int]()
        for call in reversed(self.calls):
            if call.step in steps or tensors & set(call.outputs.values()):
                steps.add(call.step)
                tensors |= set(call.inputs.values())
        return [call for call in self.calls if call.step in steps]


def write_plan(plan: Plan, folder: Path) -> None:
    """Write `plan` into a version's folder."""
    (folder / PLAN).write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n")


def read_plan(folder: Path) -> Plan:
    """Return the plan in a version's folder.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is no plan.
    """
    return msgspec.json.decode((folder / PLAN).read_bytes(), type=Plan)
