"""Says of each model that cannot be observed why not, once, while its server runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tritonscope.server.stubs import Stub, lacks_tritonscope, stubs_of

_PERIOD_S = 2.0

Say = Callable[[str], None]


def _to_stderr(line: str) -> None:
    print(f"tritonscope: {line}", file=sys.stderr, flush=True)


class StubWatch:
    """Looks at the stubs of the process `server_pid` from `start` to `stop`, on a thread of its own."""

    def __init__(self, server_pid: int, say: Say = _to_stderr) -> None:
        self._server_pid = server_pid
        self._say = say
        self._told: set[str] = set()
        self._asked: dict[Path, bool] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tritonscope-stubs", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; what is being asked is not waited for."""
        self._stopped.set()

    def look(self) -> None:
        """Look once."""
        for stub in stubs_of(self._server_pid):
            if stub.model not in self._told and stub.python is not None and self._lacks(stub.python):
                self._told.add(stub.model)
                self._say(_reason(stub, stub.python))

    def _run(self) -> None:
        while not self._stopped.wait(_PERIOD_S):
            self.look()

    def _lacks(self, python: Path) -> bool:
        if python not in self._asked:
            self._asked[python] = lacks_tritonscope(python)
        return self._asked[python]


def _reason(stub: Stub, python: Path) -> str:
    environment = python.parent.parent
    return (
        f"model {stub.model} is not observed: there is no tritonscope in its Python environment {environment} "
        f"('{python} -m pip install tritonscope', and pack it again if it is an EXECUTION_ENV_PATH archive)"
    )
