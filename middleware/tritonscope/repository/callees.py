"""Which models of a repository a Python model calls by BLS, as far as its code and its parameters tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tritonscope.repository.code.facts import Call, CalleeName, Origin
from tritonscope.repository.stages import Repository, Stage


class Callee(NamedTuple):
    """A model that a call may ask: its name, "" if that is not known, and its stage, None if it is not there."""

    call: Call
    name: CalleeName
    model: str
    stage: Stage | None


def callees(stage: Stage, repository: Repository) -> list[Callee]:
    """Return what `stage` may call, in the order of its code; of a stage without code, nothing."""
    found = []
    for call in stage.code.calls if stage.code else ():
        for name in call.names:
            model = model_named(name, stage)
            found.append(Callee(call, name, model, repository.stages.get(model)))
    return found


def model_named(name: CalleeName, stage: Stage) -> str:
    """Return the model that a name in the code of `stage` means, "" where only a running model knows."""
    if name.origin is Origin.LITERAL:
        return name.text
    if name.origin is Origin.PARAMETER:
        value = stage.parameters.get(name.text, name.default)
        return "" if any(hole.text in value for hole in stage.placeholders) else value
    return ""


def call_notes(repository: Repository) -> Iterator[str]:
    """Yield what of the calls between models is not known: names that are open, and models that are not there."""
    for stage in repository.stages.values():
        for call in stage.code.calls if stage.code else ():
            yield from _notes_of(call, stage, repository)


def _notes_of(call: Call, stage: Stage, repository: Repository) -> Iterator[str]:
    where = f"'{stage.name}' ({call.file}:{call.line})"
    models = {name: model_named(name, stage) for name in call.names}
    if not any(models.values()):
        yield f"{where} calls a model whose name only its run tells ({', '.join(str(name) for name in models)})"
    for name, model in models.items():
        if model and model not in repository.stages and model not in repository.broken:
            known = "" if name.origin is Origin.LITERAL else f" ({name})"
            yield f"{where} calls '{model}'{known}, which is not in the repository"
