"""The models of a repository that are loaded, by name and version."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tritonscope.errors import RepositoryError, TritonscopeError
from tritonscope.testing.backend.errors import ErrorCode
from tritonscope.testing.backend.host import Host
from tritonscope.testing.config import Config, complete, read_config, versions
from tritonscope.testing.ensemble import ServedEnsemble, read_steps
from tritonscope.testing.loading import auto_complete
from tritonscope.testing.served import ServedModel
from tritonscope.testing.spec import InstanceSpec
from tritonscope.testing.traffic import Call, CallFailedError

Served = ServedModel | ServedEnsemble


class Repository:
    """Loads models from `folder`; `submit` is the server's, for what ensembles send to their steps."""

    def __init__(self, folder: Path, host: Host, submit: Callable[[Call], None]) -> None:
        self._folder, self._host, self._submit = folder.absolute(), host, submit
        self._lock = threading.RLock()
        self._loaded: dict[str, dict[int, Served]] = {}

    def load_all(self, names: Sequence[str] | None) -> None:
        """Load the named models, all by default; ensembles after the models that they are made of.

        Raises:
            RepositoryError: one does not load.
        """
        if not self._folder.is_dir():
            raise RepositoryError(f"there is no model repository {self._folder}")
        found = sorted(
            path.name for path in self._folder.iterdir() if path.is_dir() and not path.name.startswith(".")
        )
        try:
            for name in found if names is None else names:
                if name not in self._loaded:
                    self.load(name, "", {})
        except CallFailedError as error:
            raise RepositoryError(error.failure.message) from error.__cause__

    def load(self, name: str, config: str, files: Mapping[str, bytes]) -> None:
        """Load or reload a model, and for an ensemble the models that it is made of.

        Raises:
            CallFailedError: it does not load; the version before, if any, goes on.
        """
        model_dir = self._folder / name
        if not model_dir.is_dir() and not files:
            raise CallFailedError(f"failed to load '{name}', failed to poll from model repository")
        try:
            told = json.loads(config) if config else read_config(model_dir)
            fresh = self._serve(complete(told), self._with_files(model_dir, files))
        except TritonscopeError as error:
            raise CallFailedError(f"load failed for model '{name}': {error}") from error
        with self._lock:
            before = self._loaded.get(name, {})
            self._loaded[name] = fresh
        _close(before)

    def unload(self, name: str, *, dependents: bool) -> None:
        """Unload a model, and with `dependents` what an ensemble is made of. Unknown names are no error."""
        with self._lock:
            served = self._loaded.pop(name, {})
        _close(served)
        if dependents:
            for step in {step.model for each in served.values() for step in getattr(each, "steps", ())}:
                self.unload(step, dependents=True)

    def find(self, name: str, version: int) -> Served:
        """Return a loaded model; version -1 is the latest.

        Raises:
            CallFailedError: it is not loaded.
        """
        with self._lock:
            served = self._loaded.get(name, {})
            if served and version == -1:
                return served[max(served)]
            if version in served:
                return served[version]
        which = f"'{name}'" if version == -1 or not served else f"'{name}' version {version}"
        raise CallFailedError(f"Request for unknown model: {which} is not found", ErrorCode.NOT_FOUND)

    def is_ready(self, name: str, version: str) -> bool:
        """Whether a version of a model, '' for the latest, answers requests.

        Raises:
            CallFailedError: the version is not a number.
        """
        number = _version_number(version)
        with self._lock:
            served = self._loaded.get(name, {})
            return number in served or (number == -1 and bool(served))

    def all_served(self) -> Iterator[Served]:
        """Yield every loaded version of every model."""
        with self._lock:
            loaded = [served for versions_ in self._loaded.values() for served in versions_.values()]
        yield from loaded

    def close(self) -> None:
        """Unload everything, ensembles first."""
        by_kind = sorted(
            self._loaded.items(), key=lambda item: isinstance(next(iter(item[1].values())), ServedModel)
        )
        for name, _served in by_kind:
            self.unload(name, dependents=False)

    def _serve(self, config: Config, model_dir: Path) -> dict[int, Served]:
        if "ensemble_scheduling" in config:
            return self._serve_ensemble(config, model_dir)
        if config["backend"] != "python":
            raise RepositoryError(
                f"model '{config['name']}' needs the backend '{config['backend'] or config['platform']}': "
                "an InProcessServer runs Python models and ensembles of them only"
            )
        return {version: self._serve_version(config, model_dir, version) for version in versions(model_dir, config)}

    def _serve_version(self, config: Config, model_dir: Path, version: int) -> Served:
        spec = InstanceSpec(config, model_dir, version, config["name"])
        try:
            completed = complete(auto_complete(spec, self._host))
            return ServedModel(completed, model_dir, version, self._host)
        except CallFailedError as error:
            reason = f"version {version} is at UNAVAILABLE state: Internal: {error.failure.message};"
            raise RepositoryError(reason) from error.__cause__

    def _serve_ensemble(self, config: Config, model_dir: Path) -> dict[int, Served]:
        for step in read_steps(config):
            if step.model not in self._loaded:
                self.load(step.model, "", {})
            if self.find(step.model, step.version).decoupled:
                raise RepositoryError(
                    f"ensemble '{config['name']}': its step '{step.model}' is a decoupled model: "
                    "an InProcessServer does not run those in ensembles"
                )
        return {version: ServedEnsemble(config, version, self._submit) for version in versions(model_dir, config)}

    def _with_files(self, model_dir: Path, files: Mapping[str, bytes]) -> Path:
        """Return the model's folder, or one made of the `files` that a caller of `load_model` gave instead."""
        if not files:
            return model_dir
        folder = Path(tempfile.mkdtemp(prefix="tritonscope-model-")) / model_dir.name
        for name, content in files.items():
            path = folder / name.removeprefix("file:")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder


def _close(served: Mapping[int, Served]) -> None:
    for each in served.values():
        each.close()


def _version_number(version: str) -> int:
    if not version:
        return -1
    what = f"failed to get model version from specified version string '{version}'"
    advice = "version should be an integral value > 0"
    try:
        number = int(version)
    except ValueError:
        raise CallFailedError(f"{what} (details: stol), {advice}") from None
    if number < 0:
        raise CallFailedError(f"{what}, {advice}")
    return number
