"""Changes a config.pbtxt as a person would: one setting, and everything else stays as it was."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tritonscope.errors import ConfigError
from tritonscope.repository.config import parse_text
from tritonscope.repository.stages import Stage

_TOKEN = re.compile(r"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{}\[\]<>:,;]|[^\s{}\[\]<>:,;#"']+""")


class _Group(NamedTuple):
    """An `instance_group` in a text: where its last value ends, and where its count is, if it has one."""

    opened: int
    last: int
    count_at: tuple[int, int] | None


def count_diff(stage: Stage, count: int) -> str:
    """Return the unified diff that gives `stage` `count` instances in its one instance group.

    Empty where its text is not at hand, or where the change is more than one setting (several groups).
    """
    after = None if stage.path is None else with_count(stage.text, count)
    if after is None:
        return ""
    name = f"{stage.name}/config.pbtxt"
    lines = difflib.unified_diff(
        stage.text.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def with_count(text: str, count: int) -> str | None:
    """Return a configuration's text with `count` instances in its one group, None where that is not one change."""
    groups = list(_groups(text))
    if len(groups) > 1:
        return None
    after = _changed(text, groups[0], count) if groups else _appended(text, count)
    return after if _means(text, after, count) else None


def _changed(text: str, group: _Group, count: int) -> str:
    if group.count_at:
        begin, end = group.count_at
        return f"{text[:begin]}{count}{text[end:]}"
    # As the setting before it is written: on a line of its own, or after a space.
    before = text[group.opened : group.last]
    line = before.rpartition("\n")[2] if "\n" in before else None
    gap = " " if line is None else "\n" + line[: len(line) - len(line.lstrip())]
    return f"{text[: group.last]}{gap}count: {count}{text[group.last :]}"


def _appended(text: str, count: int) -> str:
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}instance_group [\n  {{\n    count: {count}\n  }}\n]\n"


def _groups(text: str) -> Iterator[_Group]:
    """Yield the groups of the top-level fields `instance_group`, which hold a message or a list of them."""
    depth, field, opened, last = 0, "", 0, 0
    words: list[re.Match[str]] = []
    for token in (found for found in _TOKEN.finditer(text) if not found[0].startswith("#")):
        word = token[0]
        if word in "{<":
            depth += 1
            if depth == 1:
                opened, last, words = token.end(), token.end(), []
        elif word in "}>":
            depth -= 1
            if depth == 0 and field == "instance_group":
                yield _Group(opened, last, _count(words))
        elif depth == 0:
            field = word if word not in "[]:,;" else field
        elif depth == 1:
            words.append(token)
        last = token.end()


def _count(words: list[re.Match[str]]) -> tuple[int, int] | None:
    for name, colon, value in zip(words, words[1:], words[2:], strict=False):
        if name[0] == "count" and colon[0] == ":":
            return value.span()
    return None


def _means(before: str, after: str, count: int) -> bool:
    """Tell whether protobuf reads the change, and nothing else, out of `after`."""
    try:
        expected: Any = parse_text(before, Path())
        actual: Any = parse_text(after, Path())
    except ConfigError:
        return False
    group = expected.instance_group[0] if expected.instance_group else expected.instance_group.add()
    group.count = count
    return bool(actual == expected)
