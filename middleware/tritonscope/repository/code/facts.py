"""What is known of a Python model's code: records that analyzer passes read."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import NamedTuple


class Origin(Enum):
    """Where the name of a called model comes from."""

    LITERAL = "literal"
    PARAMETER = "parameter"
    ENVIRONMENT = "environment"
    UNKNOWN = "not literal"


class CalleeName(NamedTuple):
    """A name that a call may use.

    `text` is the model's name, the key of the configuration's parameter, the environment variable's name, or the
    expression as it is written. `default` is the name that counts where the parameter or variable is missing.
    """

    origin: Origin
    text: str
    default: str = ""

    def __str__(self) -> str:
        if self.origin is Origin.LITERAL:
            return f"'{self.text}'"
        what = {
            Origin.PARAMETER: f"by parameter '{self.text}'",
            Origin.ENVIRONMENT: f"by environment variable {self.text}",
        }.get(self.origin, f"not literal: {self.text}")
        return f"{what}, else '{self.default}'" if self.default else what


class Waiting(Enum):
    """How a model waits for what it called.

    `blocking`: `exec`, in the thread of `execute`. `threaded`: `exec`, in threads of its own. `serial`: each
    `async_exec` is awaited before the next one is made. `gathered`: several are awaited together.
    """

    BLOCKING = "blocking"
    THREADED = "threaded"
    SERIAL = "serial"
    GATHERED = "gathered"
    UNKNOWN = "unknown"


class Call(NamedTuple):
    """A place in the code that asks another model: a BLS request, or one through a client of the server.

    `per_request` says that it lies in a loop over the batch's requests, `repeated` that it lies in any other loop:
    so that a request makes many such calls. `decoupled` is None where the code computes it.
    """

    names: tuple[CalleeName, ...]
    file: str
    line: int
    function: str
    waiting: Waiting
    per_request: bool = False
    repeated: bool = False
    decoupled: bool | None = False
    by_client: bool = False


class Code(NamedTuple):
    """A Python model's code: its entry file and the modules beside it that it imports.

    `execute_line` is 0 where no `execute` was found. `auto_completes` are the settings that `auto_complete_config`
    may set beyond the file: `max_batch_size`, `dynamic_batching`, `input`, and so on. `imports` are the top-level
    names of all imported packages.
    """

    path: Path
    execute_line: int = 0
    is_async: bool = False
    loops_over_requests: bool = False
    gathers: bool = False
    uses_threads: bool = False
    uses_response_sender: bool = False
    uses_as_numpy: bool = False
    uses_dlpack: bool = False
    uses_cupy: bool = False
    uses_torch: bool = False
    copies_from_gpu: bool = False
    auto_completes: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = ()
