"""TritonError and its codes, and the exception that every failed call of the backend raises."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from tritonscope.testing.backend.arguments import MODULE, Parameter, Signature, is_a, is_text


class ErrorCode(enum.Enum):
    """Kind of an error, as a client sees it."""

    UNKNOWN = 0
    INTERNAL = 1
    NOT_FOUND = 2
    INVALID_ARG = 3
    UNAVAILABLE = 4
    UNSUPPORTED = 5
    ALREADY_EXISTS = 6
    CANCELLED = 7

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__

    def __repr__(self) -> str:
        return f"<__ErrorCode.{self.name}: {self.value}>"


_INIT = Signature(
    "__init__",
    f"{MODULE}.TritonError(message: str, code: {MODULE}.TritonError.__ErrorCode = <__ErrorCode.INTERNAL: 1>)",
    (Parameter("message", is_text), Parameter("code", is_a(ErrorCode), ErrorCode.INTERNAL)),
)


class TritonError:
    """The error of a response: a message and one of the codes that are attributes of this class."""

    __module__ = MODULE
    __slots__ = ("__weakref__", "_code", "_message")

    UNKNOWN: ClassVar = ErrorCode.UNKNOWN
    INTERNAL: ClassVar = ErrorCode.INTERNAL
    NOT_FOUND: ClassVar = ErrorCode.NOT_FOUND
    INVALID_ARG: ClassVar = ErrorCode.INVALID_ARG
    UNAVAILABLE: ClassVar = ErrorCode.UNAVAILABLE
    UNSUPPORTED: ClassVar = ErrorCode.UNSUPPORTED
    ALREADY_EXISTS: ClassVar = ErrorCode.ALREADY_EXISTS
    CANCELLED: ClassVar = ErrorCode.CANCELLED

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._message: str
        self._code: ErrorCode
        self._message, self._code = _INIT.bind(args, kwargs)

    def message(self) -> str:
        """Return the text."""
        return self._message

    def code(self) -> ErrorCode:
        """Return the code."""
        return self._code


class TritonModelException(Exception):  # noqa: N818 - Triton's name
    """A call of the backend failed."""

    __module__ = MODULE
