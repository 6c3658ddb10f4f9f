"""Argument checks in the manner of the real classes, which are C++: by type, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MODULE = "c_python_backend_utils"
REQUIRED = object()
_INT64, _UINT32, _UINT64 = 1 << 63, 1 << 32, 1 << 64


class Parameter(NamedTuple):
    """One argument: its name, what it accepts, its default; an `arg…` name is positional only, as in pybind11."""

    name: str
    accepts: Callable[[Any], bool]
    default: Any = REQUIRED


class Signature(NamedTuple):
    """A function's arguments, and how the real function shows them in its TypeError."""

    function: str
    shown: str
    parameters: tuple[Parameter, ...]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], this: Any = REQUIRED) -> list[Any]:
        """Return one value for each parameter; `this` is the object whose method was called.

        Raises:
            TypeError: an argument is missing, unknown or of another type; with the text of the real function.
        """
        values = self._values(args, kwargs)
        if values is None:
            raise TypeError(self._complaint(args if this is REQUIRED else (this, *args), kwargs))
        return values

    def _values(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | None:
        named = {
            parameter.name for parameter in self.parameters[len(args) :] if not parameter.name.startswith("arg")
        }
        if len(args) > len(self.parameters) or not named.issuperset(kwargs):
            return None
        values = list(args)
        values += [kwargs.get(parameter.name, parameter.default) for parameter in self.parameters[len(args) :]]
        for parameter, value in zip(self.parameters, values, strict=True):
            if value is REQUIRED or not (value is parameter.default or parameter.accepts(value)):
                return None
        # A std::string takes bytes and gives text back.
        return [value.decode() if isinstance(value, bytes) else value for value in values]

    def _complaint(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        kind = "constructor" if self.function == "__init__" else "function"
        invoked = [", ".join(map(repr, args))] if args else []
        if kwargs:
            invoked.append("kwargs: " + ", ".join(f"{name}={value!r}" for name, value in kwargs.items()))
        return (
            f"{self.function}(): incompatible {kind} arguments. The following argument types are supported:\n"
            f"    1. {self.shown}\n\nInvoked with: {'; '.join(invoked)}"
        )


def is_text(value: Any) -> bool:
    """Whether a `std::string` argument takes it."""
    return isinstance(value, str | bytes)


def is_array(value: Any) -> bool:
    """Whether a `py::array` argument that must not be converted takes it."""
    return isinstance(value, np.ndarray)


def is_int64(value: Any) -> bool:
    """Whether an `int64_t` argument takes it."""
    return _is_integer(value) and -_INT64 <= int(value) < _INT64


def is_uint32(value: Any) -> bool:
    """Whether a `uint32_t` argument takes it."""
    return _is_integer(value) and 0 <= int(value) < _UINT32


def is_uint64(value: Any) -> bool:
    """Whether a `uint64_t` argument takes it."""
    return _is_integer(value) and 0 <= int(value) < _UINT64


def is_number(value: Any) -> bool:
    """Whether a `double` argument takes it."""
    return isinstance(value, int | float | np.number)


def is_something(value: Any) -> bool:
    """Whether a `py::object` argument that must not be None takes it."""
    return value is not None


def is_anything(_value: Any) -> bool:
    """Whether a `py::object` argument takes it: always."""
    return True


def is_list_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return whether a `std::vector` argument takes a value: a sequence of what `accepts` takes."""
    return lambda value: (
        isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(map(accepts, value))
    )


def is_a(kind: type | tuple[type, ...]) -> Callable[[Any], bool]:
    """Return whether an argument of class `kind` takes a value."""
    return lambda value: isinstance(value, kind)


def is_a_or_none(kind: type) -> Callable[[Any], bool]:
    """Return whether an argument that points to a `kind` takes a value; None is the null pointer."""
    return lambda value: value is None or isinstance(value, kind)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer)
