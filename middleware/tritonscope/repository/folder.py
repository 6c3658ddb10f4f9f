"""Model repositories on disk: every model that can be read, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.backends import PYTHON_FILE, contradiction
from tritonscope.repository.callees import call_notes
from tritonscope.repository.checks import check_ensemble
from tritonscope.repository.code.facts import Code
from tritonscope.repository.code.reader import read_code
from tritonscope.repository.config import read_stage
from tritonscope.repository.pipeline import missing_model
from tritonscope.repository.stages import Repository, Stage
from tritonscope.repository.text import Text, decode

CONFIG = "config.pbtxt"


def read_repository(path: Path) -> Repository:
    """Return the models in the folder `path`; broken ones are among its `problems`.

    Raises:
        RepositoryError: there is no such folder, or no model in it.
    """
    return read_repositories([path])


def read_repositories(paths: Sequence[Path]) -> Repository:
    """Return the models of several folders, as of a server that was started with all of them.

    A name that two folders have is broken, as a server loads neither (seen on 2.51; with `--model-namespacing` it
    would load both).

    Raises:
        RepositoryError: one of them is no folder, or has no model in it.
    """
    stages: dict[str, Stage] = {}
    broken: dict[str, RepositoryError] = {}
    different = {path.resolve(): path for path in paths}.values()
    folders = [folder for path in different for folder in _models(path)]
    for folder in folders:
        try:
            stages[folder.name] = read_model(folder)
        except RepositoryError as error:  # noqa: PERF203 - one broken model must not hide the others
            broken[folder.name] = error
    broken |= _twice(folders)
    stages = {name: stage for name, stage in stages.items() if name not in broken}
    return with_findings(Repository(stages, (), broken))


def with_findings(repository: Repository) -> Repository:
    """Return `repository` with all its problems and notes, found in its stages and in what is broken."""
    its = repository.stages
    problems: list[RepositoryError] = [*repository.broken.values(), *_wrong_names(its)]
    problems += [problem for stage in its.values() for problem in stage.problems]
    problems += _missing(repository)
    problems += [
        problem for ensemble in repository.ensembles.values() for problem in check_ensemble(ensemble, repository)
    ]
    return repository._replace(
        problems=tuple(problems), notes=(*_templates(its.values()), *call_notes(repository))
    )  # fmt: skip


def read_model(folder: Path) -> Stage:
    """Return the model in `folder`, with what is known of its code if it is a Python model.

    Raises:
        ConfigError: its configuration cannot be read or does not parse.
    """
    path = folder / CONFIG
    try:
        text = decode(path.read_bytes() if path.is_file() else b"")
        versions = _versions(folder)
        files = frozenset(entry.name for version in versions[:1] for entry in (folder / version).iterdir())
    except OSError as error:
        raise ConfigError(f"{error.filename or path} cannot be read: {error.strerror}") from None
    stage = read_stage(text.text, path, folder.name, files=files)
    problems = [ConfigError(f"{path}: {what}") for what in _odd(stage, text, files)]
    numbers = tuple(sorted(int(version) for version in versions))
    stage = stage._replace(versions=numbers, problems=(*stage.problems, *problems))
    newest = sorted(versions, key=int, reverse=True)
    return _with_code(stage, [folder / version for version in newest]) if stage.is_python else stage


def _odd(stage: Stage, text: Text, files: frozenset[str]) -> Iterator[str]:
    if not text.is_triton_s:
        yield f"it is in {_NAMES[text.encoding]}, which Triton refuses: save it as plain UTF-8"
    entry = "" if stage.entry == PYTHON_FILE else stage.entry
    if odd := contradiction(stage.backend, entry, files):
        yield odd


_NAMES = {
    "utf-8-sig": "UTF-8 with a byte order mark", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
}  # fmt: skip


def _with_code(stage: Stage, versions: Iterable[Path]) -> Stage:
    """Return `stage` with the code of the first of its `versions` that has an entry file."""
    for version in versions:
        entry = version / stage.entry
        if entry.is_file():
            try:
                code: Code = read_code(entry)
            except RepositoryError as error:
                return stage._replace(problems=(*stage.problems, error))
            return stage._replace(code=code)
    return stage


def _models(path: Path) -> list[Path]:
    if not path.is_dir():
        raise RepositoryError(f"there is no model repository {path}: give the folder that holds the models")
    try:
        folders = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _is_model(folder)]
    except OSError as error:
        raise RepositoryError(f"the model repository {path} cannot be read: {error.strerror}") from None
    if not folders:
        raise RepositoryError(f"{path} holds no model: each needs a folder with a {CONFIG} or a 1/model.py")
    return folders


def _is_model(folder: Path) -> bool:
    return (folder / CONFIG).is_file() or any(folder.glob("[0-9]*/model.py"))


def _versions(folder: Path) -> list[str]:
    """Return the names of the versions' folders in the order in which Triton looks at them: as text."""
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and entry.name.isdecimal())


def _twice(folders: Iterable[Path]) -> dict[str, RepositoryError]:
    by_name: dict[str, list[Path]] = {}
    for folder in folders:
        by_name.setdefault(folder.name, []).append(folder)
    return {
        name: RepositoryError(
            f"model '{name}' is in {len(its)} repositories ({', '.join(str(folder.parent) for folder in its)}): "
            "Triton loads none of them; rename all but one"
        )
        for name, its in by_name.items()
        if len(its) > 1
    }


def _wrong_names(stages: dict[str, Stage]) -> list[RepositoryError]:
    return [
        ConfigError(f"{stage.path}: name is '{stage.name}', but the folder is '{folder}': Triton wants them equal")
        for folder, stage in stages.items()
        if stage.name != folder
    ]


def _missing(repository: Repository) -> list[RepositoryError]:
    there = repository.stages.keys() | repository.broken.keys()
    return [
        missing_model(ensemble, step, repository)
        for ensemble in repository.ensembles.values()
        for step in ensemble.steps
        if step.model not in there
    ]


def _templates(stages: Iterable[Stage]) -> Iterator[str]:
    for stage in stages:
        if stage.is_template:
            open_ = ", ".join(
                f"{hole.field} ({hole.text}, line {hole.line})" for hole in stage.placeholders[:_SHOWN]
            )
            more = f" and {len(stage.placeholders) - _SHOWN} more" if len(stage.placeholders) > _SHOWN else ""
            yield f"{stage.path} is a template; it leaves open, and counts as not written: {open_}{more}"


_SHOWN = 4
