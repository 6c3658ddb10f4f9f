"""Who this instance is: from the arguments of `initialize`, or from the stub's own command line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tritonscope.records import InstanceRecord

# tritonserver starts a stub as: stub MODEL_PATH SHM_PREFIX SHM_BYTES GROWTH PARENT_PID BACKEND_DIR IPC INSTANCE ...
_PROGRAM, _MODEL_PATH, _INSTANCE = 0, 1, 8
_STUB = "stub"


def identify(args: Mapping[str, str] | None, file: str | None = None) -> InstanceRecord:
    """Return the record of an instance.

    `args` are those of `initialize`; for a model without it the stub's command line tells, and outside of a stub
    `file`, the model's own.
    """
    known = dict(args) if args is not None else _from_command_line() or _from_path(Path(file or "unknown"))
    return InstanceRecord(
        model=known.get("model_name", "unknown"),
        version=str(known.get("model_version", "1")),
        instance=known.get("model_instance_name", "unknown"),
        pid=os.getpid(),
        kind=known.get("model_instance_kind", "CPU"),
        device_id=_whole(known.get("model_instance_device_id", "0")),
        repository=known.get("model_repository", ""),
        python=sys.version.split()[0],
        started_unix_ns=time.time_ns(),
        span_seed=int.from_bytes(os.urandom(8), "little"),
    )


def _from_command_line(path: Path = Path("/proc/self/cmdline")) -> dict[str, str]:
    words = path.read_bytes().decode(errors="replace").split("\0")
    if len(words) <= _INSTANCE or not words[_PROGRAM].endswith(_STUB):
        return {}
    return {**_from_path(Path(words[_MODEL_PATH])), "model_instance_name": words[_INSTANCE]}


def _from_path(file: Path) -> dict[str, str]:
    """Read MODEL/VERSION/model.py, as every repository has it."""
    model = file.parent.parent
    return {
        "model_name": model.name or "unknown",
        "model_version": file.parent.name or "1",
        "model_repository": str(model),
        "model_instance_name": f"{model.name or 'unknown'}_0",
    }


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() else 0
