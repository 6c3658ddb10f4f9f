"""Logger: lines that a model writes to the server's log, with the file and line that wrote them."""

from __future__ import annotations

import enum
import sys
from typing import Any, ClassVar

from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature, is_a, is_text
from tritonscope.testing.backend.host import LogLine, current_stub


class LogLevel(enum.Enum):
    """Levels of a log line."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    VERBOSE = 3

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


_LOG = Signature(
    "log",
    f"(message: str, level: {MODULE}.Logger.LogLevel = <LogLevel.INFO: 0>) -> None",
    (Parameter("message", is_text), Parameter("level", is_a(LogLevel), LogLevel.INFO)),
)


class Logger:
    """Writes to the server's log."""

    __module__ = MODULE
    LogLevel = LogLevel
    INFO: ClassVar = LogLevel.INFO
    WARNING: ClassVar = LogLevel.WARNING
    ERROR: ClassVar = LogLevel.ERROR
    VERBOSE: ClassVar = LogLevel.VERBOSE

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        raise TypeError(f"{MODULE}.Logger: No constructor defined!")

    @staticmethod
    def log(*args: Any, **kwargs: Any) -> None:
        """Write a line at a level, INFO by default."""
        message, level = _LOG.bind(args, kwargs)
        _write(level, message)

    @staticmethod
    def log_info(*args: Any, **kwargs: Any) -> None:
        """Write a line at level INFO."""
        _write(LogLevel.INFO, _message("log_info", args, kwargs))

    @staticmethod
    def log_warn(*args: Any, **kwargs: Any) -> None:
        """Write a line at level WARNING."""
        _write(LogLevel.WARNING, _message("log_warn", args, kwargs))

    @staticmethod
    def log_error(*args: Any, **kwargs: Any) -> None:
        """Write a line at level ERROR."""
        _write(LogLevel.ERROR, _message("log_error", args, kwargs))

    @staticmethod
    def log_verbose(*args: Any, **kwargs: Any) -> None:
        """Write a line at level VERBOSE."""
        _write(LogLevel.VERBOSE, _message("log_verbose", args, kwargs))


def _message(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    (message,) = Signature(function, "(message: str) -> None", (Parameter("message", is_text),)).bind(args, kwargs)
    return str(message)


def _write(level: LogLevel, message: str) -> None:
    # The real functions are C++: the innermost Python frame is their caller's, two above this one here.
    frame = sys._getframe(2)  # noqa: SLF001 - the documented way to a caller's frame
    current_stub().host.log(LogLine(level.name, message, frame.f_code.co_filename, frame.f_lineno))
