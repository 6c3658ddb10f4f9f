"""The models that an analysis is about: from a run's configurations and from files, and the pipeline among them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tritonscope.errors import RepositoryError, UsageError
from tritonscope.evidence import StatisticsSample
from tritonscope.repository.config import parse_json, parse_text, to_stage
from tritonscope.repository.pipeline import Pipeline, build_pipeline
from tritonscope.repository.stages import Repository, Stage
from tritonscope.runs import ConfigLine, Run


def repository_of(configs: Iterable[ConfigLine]) -> Repository:
    """Return the models of configurations that a server gave, or that were read from files."""
    stages: dict[str, Stage] = {}
    broken: dict[str, RepositoryError] = {}
    for line in configs:
        try:
            stages[line.model] = _stage(line)
        except RepositoryError as error:  # noqa: PERF203 - one broken model must not hide the others
            broken[line.model] = error
    return Repository(stages, tuple(broken.values()), broken)


def with_files(repository: Repository, files: Repository) -> Repository:
    """Return `repository` with the texts and the code of `files`, so that changes can be shown in them.

    What a server said of its models counts more than what the files say: it knows its GPUs. Without any models
    in `repository` the files are all there is.
    """
    if not repository.stages:
        return files
    stages = {name: _with_text(stage, files.stages.get(name)) for name, stage in repository.stages.items()}
    return repository._replace(stages=stages)


def choose_pipeline(repository: Repository, run: Run | None, wanted: str = "") -> Pipeline:
    """Return the pipeline `wanted`, else the only one there is, or the only one that had requests.

    An ensemble that is a step of another one is not a choice; without ensembles every model is.

    Raises:
        RepositoryError: it is missing or broken.
        UsageError: there are several; the message names them.
    """
    if wanted:
        return build_pipeline(wanted, repository)
    inner = {step.model for stage in repository.ensembles.values() for step in stage.steps}
    names = sorted(repository.ensembles.keys() - inner) or sorted(repository.stages)
    if len(names) > 1 and run is not None:
        names = _with_requests(names, run) or names
    if len(names) == 1:
        return build_pipeline(names[0], repository)
    if repository.broken and not repository.ensembles:
        raise next(iter(repository.broken.values()))
    what = "pipelines" if repository.ensembles else "models and no ensemble"
    raise UsageError(f"there are {len(names)} {what}: choose one with --model: {', '.join(names)}")


def _stage(line: ConfigLine) -> Stage:
    path = Path(line.path) if line.path else Path(line.model, "config.pbtxt")
    message = parse_text(line.text, path) if line.json is None else parse_json(line.json)
    return to_stage(message, line.model, path=path if line.text else None, text=line.text)


def _with_text(stage: Stage, file: Stage | None) -> Stage:
    return stage if file is None else stage._replace(text=file.text, path=file.path, code=file.code)


def _with_requests(names: list[str], run: Run) -> list[str]:
    if not run.statistics:
        return []
    before, after = _requests(run.statistics[0]), _requests(run.statistics[-1])
    return [name for name in names if after.get(name, 0) != before.get(name, 0)]


def _requests(sample: StatisticsSample) -> dict[str, int]:
    counts: dict[str, int] = {}
    for model in sample.models:
        counts[model.model] = counts.get(model.model, 0) + model.requests
    return counts
