"""Gets at a model's TritonPythonModel, and has it complete its configuration."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tritonscope.testing.backend import modules
from tritonscope.testing.backend.host import Host, StubState, forget, register, running
from tritonscope.testing.config import Config
from tritonscope.testing.modelfiles import import_model
from tritonscope.testing.spec import InstanceSpec
from tritonscope.testing.traffic import CallFailedError

_OURS = Path(__file__).parent


def auto_complete(spec: InstanceSpec, host: Host) -> Config:
    """Return the configuration as the model's `auto_complete_config` completes it, in a "process" of its own.

    Raises:
        CallFailedError: it raised, or returned no ModelConfig.
    """
    name = spec.config["name"]
    stub = StubState(name, str(spec.file.parent), host, decoupled=False)
    register(stub)
    try:
        with running(stub):
            completed: Config = described(lambda: _auto_completed(spec, name))
            return completed
    finally:
        forget(stub)


def _auto_completed(spec: InstanceSpec, name: str) -> Config:
    entry = import_entry(spec.file)
    config_class = modules.current().ModelConfig
    config = config_class(json.dumps(spec.config))
    if hasattr(entry, "auto_complete_config"):
        config = entry.auto_complete_config(config)
    if not isinstance(config, config_class):
        raise CallFailedError(
            f"auto_complete_config function in model '{name}' must return a valid pb.ModelConfig object."
        )
    completed: Config = json.loads(json.dumps(config.as_dict()))
    return completed


def import_entry(file: Path) -> Any:
    """Import a model's file and return its `TritonPythonModel`, whatever that is."""
    if not file.is_file():
        raise CallFailedError(f"Python model file not found in '{file}'")
    backend = modules.renew()
    module = import_model(file)
    modules.complete(backend)
    return module.TritonPythonModel


def described(step: Callable[[], Any]) -> Any:
    """Run a step of the model; what it raises becomes a failure with the text that Triton gives it.

    The real text goes on with `At:` and the stack; here it ends before.
    """
    try:
        return step()
    except CallFailedError:
        raise
    except (Exception, SystemExit) as error:
        raise CallFailedError(f"{type(error).__name__}: {str(error) or '<EMPTY MESSAGE>'}") from error


def stack_of(error: BaseException | None) -> str:
    """Return where an exception of a model's was raised, in lines to go after its text; our frames left out."""
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    lines = [frame for frame in frames if Path(frame.filename).parent != _OURS]
    return "\n" + "".join(traceback.StackSummary.from_list(lines).format()) if lines else ""
