"""A configuration's text to protobuf's message, as far as it goes: templates and newer servers' fields included."""

from __future__ import annotations

import re
import warnings
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from tritonclient.grpc import model_config_pb2

from tritonscope.errors import ConfigError
from tritonscope.repository.fields import MARKED, Field, blanked, walk
from tritonscope.repository.stages import Placeholder

# As protobuf's errors say it, in 5.26 to 6.33.
_UNKNOWN = re.compile(r'has no (?:field|value) named "?(?P<name>[\w./-]+?)"?\.')
_MOST_UNKNOWN = 50
_A_SLIP = 0.9  # instance_groups for instance_group; not input_pinned_memory for output_pinned_memory
_MARK = re.compile(MARKED)
_CAPITALS = re.compile(r"(?!(?:TRUE|FALSE|INF|NAN)$)[A-Z][A-Z0-9_]+")
_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64, FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE,
    FieldDescriptor.CPPTYPE_BOOL,
}  # fmt: skip


class Reading(NamedTuple):
    """A ModelConfig, what a template leaves open in it, and what was left out because it is not known here."""

    message: Any
    placeholders: tuple[Placeholder, ...] = ()
    problems: tuple[ConfigError, ...] = ()


class _SyntaxError(Exception):
    """Protobuf refuses a text, at a line and a column that count from 1."""

    def __init__(self, error: Exception) -> None:
        what, self.line, self.column = str(error), 1, 1
        if isinstance(error, text_format.ParseError):
            self.line, self.column = error.GetLine() or 1, error.GetColumn() or 1
            what = what.partition(" : ")[2] or what  # the library writes "line:column : what"
        self.what = what.replace("\r", "")
        super().__init__(self.what)


def parse_text(text: str, path: Path) -> Any:
    """Return the ModelConfig message that `text`, the content of `path`, holds, to the letter.

    Raises:
        ConfigError: it does not parse; the message says where and why.
    """
    try:
        return _parse(text)
    except _SyntaxError as error:
        raise _refused(path, error, text) from None


def read_message(text: str, path: Path) -> Reading:
    """Return what `text`, the content of `path`, says, as if what is open or unknown in it were not written.

    Raises:
        ConfigError: it does not parse, as it is and with its placeholders and unknown fields left out.
    """
    try:
        return Reading(_parse(text), _in_strings(text))
    except _SyntaxError:
        filled, placeholders = _filled(text)
    message, problems = _known(filled, text, path)
    return Reading(message, (*placeholders, *_in_strings(text)), tuple(problems))


def _known(text: str, original: str, path: Path) -> tuple[Any, list[ConfigError]]:
    """Return the message of the fields that protobuf knows, and what is to be said of the others."""
    problems: list[ConfigError] = []
    while True:
        try:
            return _parse(text), problems
        except _SyntaxError as error:  # noqa: PERF203 - each time one field less
            name, field = _unknown(text, error)
            if field is None or _meant(name, field) or len(problems) == _MOST_UNKNOWN:
                raise _refused(path, error, original, _meant(name, field)) from None
            problems.append(_left_out(path, error, name, field))
            text = blanked(text, field.begin, field.end)


def _parse(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings that a newer Python will not know
            return text_format.Parse(text, model_config_pb2.ModelConfig())
    except (text_format.ParseError, ValueError, OverflowError, RecursionError) as error:
        raise _SyntaxError(error) from None


def _refused(path: Path, error: _SyntaxError, text: str, meant: str = "") -> ConfigError:
    hint = "; it is a template: fill in its ${...} first" if _MARK.search(text) else ""
    hint += f"; did you mean '{meant}'?" if meant else ""
    return ConfigError(f"{path}:{error.line}:{error.column}: {error.what}{hint}")


def _filled(text: str) -> tuple[str, list[Placeholder]]:
    """Return `text` without the values that are placeholders; in a list, -1 stands for them."""
    placeholders: list[Placeholder] = []
    filled = text
    for field in walk(text):
        holes = field.holes or _capitals(field)
        if holes:
            line = text.count("\n", 0, field.begin) + 1
            placeholders += [Placeholder(hole, field.path, line) for hole in holes]
            filled = _without(filled, field)
    return filled, placeholders


def _without(text: str, field: Field) -> str:
    if field.name is not None:
        return blanked(text, field.begin, field.end)
    return blanked(text, field.begin, field.words[-1].end(), "-1")


def _capitals(field: Field) -> list[str]:
    """Return a word like MAX_BATCH where a number belongs."""
    descriptor = _descriptor(field.path)
    if descriptor is None or descriptor.cpp_type not in _NUMBERS:
        return []
    return [word[0] for word in field.words if _CAPITALS.fullmatch(word[0])]


def _in_strings(text: str) -> tuple[Placeholder, ...]:
    if "${" not in text and "{{" not in text:
        return ()
    return tuple(
        Placeholder(mark[0], field.path, text.count("\n", 0, word.start()) + 1)
        for field in walk(text)
        for word in field.words
        if word.lastgroup == "text"
        for mark in _MARK.finditer(word[0])
        if "{" in mark[0]
    )


def _unknown(text: str, error: _SyntaxError) -> tuple[str, Field | None]:
    """Return the name that `error` does not know, and the innermost field that has it; None in other errors."""
    found = _UNKNOWN.search(error.what)
    if found is None:
        return "", None
    lines = text.split("\n")[: error.line]
    offset = sum(len(line) + 1 for line in lines[:-1]) + error.column - 1
    inside = (field for field in walk(text) if field.begin <= offset < field.end and field.name)
    return found["name"], next(inside, None)


def _meant(name: str, field: Field | None) -> str:
    """Return the field that `name` certainly is a slip for: no server will ever know that name."""
    above, _, own = field.path.rpartition(".") if field is not None else ("", "", "")
    message = _message(above)
    if own != name or message is None:
        return ""
    known = list(message.fields_by_name)
    begun = [each for each in known if each.startswith(f"{name}_")]
    return next(iter(begun + get_close_matches(name, known, 1, _A_SLIP)), "")


def _left_out(path: Path, error: _SyntaxError, name: str, field: Field) -> ConfigError:
    what = f"field '{field.path}'" if field.path.endswith(name) else f"value {name} of '{field.path}'"
    return ConfigError(
        f"{path}:{error.line}:{error.column}: {what} is not known here and was left out: a newer server may know "
        "it, one that does not refuses the file"
    )


def _message(path: str) -> Any:
    """Return the protobuf descriptor of the message at `path`, None if there is none."""
    if not path:
        return model_config_pb2.ModelConfig.DESCRIPTOR
    descriptor = _descriptor(path)
    return descriptor.message_type if descriptor is not None else None


@lru_cache(maxsize=512)
def _descriptor(path: str) -> Any:
    """Return the protobuf descriptor of a field by its dotted path, None if there is none."""
    descriptor, message = None, model_config_pb2.ModelConfig.DESCRIPTOR
    for name in path.split("."):
        descriptor = message.fields_by_name.get(name) if message is not None else None
        message = descriptor.message_type if descriptor is not None else None
    return descriptor
