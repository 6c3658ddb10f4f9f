"""A model repository on disk: every model that can be read, and what is wrong with the others."""

from __future__ import annotations

from pathlib import Path

from tritonscope.errors import ConfigError, RepositoryError
from tritonscope.repository.config import parse_text, read_text, to_stage
from tritonscope.repository.pipeline import missing_model
from tritonscope.repository.stages import Repository, Stage

CONFIG = "config.pbtxt"


def read_repository(path: Path) -> Repository:
    """Return the models in the folder `path`; broken ones are among its `problems`.

    Raises:
        RepositoryError: there is no such folder, or no model in it.
    """
    if not path.is_dir():
        raise RepositoryError(f"there is no model repository {path}: give the folder that holds the models")
    folders = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _is_model(folder)]
    if not folders:
        raise RepositoryError(f"{path} holds no model: each needs a folder with a {CONFIG} or a 1/model.py")
    stages: dict[str, Stage] = {}
    broken: dict[str, RepositoryError] = {}
    for folder in folders:
        try:
            stages[folder.name] = read_model(folder)
        except ConfigError as error:  # noqa: PERF203 - one broken model must not hide the others
            broken[folder.name] = error
    repository = Repository(stages, tuple(broken.values()), broken)
    return repository._replace(problems=(*repository.problems, *_wrong_names(stages), *_missing(repository)))


def read_model(folder: Path) -> Stage:
    """Return the model in `folder`.

    Raises:
        ConfigError: its configuration cannot be read or does not parse.
    """
    path = folder / CONFIG
    try:
        text = read_text(path.read_bytes()) if path.is_file() else ""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    return to_stage(parse_text(text, path), folder.name, files=_version_files(folder), path=path, text=text)


def _is_model(folder: Path) -> bool:
    return (folder / CONFIG).is_file() or any(folder.glob("[0-9]*/model.py"))


def _version_files(folder: Path) -> frozenset[str]:
    """Return the names of the files of the first version, by which Triton guesses a missing backend."""
    versions = sorted(entry for entry in folder.iterdir() if entry.is_dir() and entry.name.isdecimal())
    return frozenset(entry.name for entry in versions[0].iterdir()) if versions else frozenset()


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
