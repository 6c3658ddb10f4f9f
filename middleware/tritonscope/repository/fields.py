"""Where the fields of a configuration's text lie: a tolerant walk over protobuf's text format.

It is for texts that protobuf refuses (templates, fields of newer servers): protobuf alone says what a text means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# What stands for a value that somebody fills in later: ${x}, $(x), $x, {{ x }}, @x@, %x%, __X__.
MARKED = r"\$\{[^{}\n]*\}|\$\([^()\n]*\)|\$[A-Za-z_]\w*|\{\{[^{}\n]*\}\}|@\w+@|%\w+%|__\w+__"
# As WeNet's scripts write it: TYPE_#DTYPE, and [-1, #num_bins]. Elsewhere a # begins a comment.
_GLUED = r"\w+#\w+|\#\w+(?=\s*[\],])"

COMMENT = r"#[^\n]*"
STRING = r"""\"(?:\\.|[^"\\\n])*\"|'(?:\\.|[^'\\\n])*'"""
TOKEN = re.compile(rf"""{COMMENT}|{STRING}|[{{}}\[\]<>:,;]|[^\s{{}}\[\]<>:,;#"']+""")
_TEMPLATE_TOKEN = re.compile(
    rf"""(?P<hole>{MARKED}|{_GLUED})|(?P<text>{STRING})|(?P<comment>{COMMENT})|"""
    r"""(?P<mark>[{}\[\]<>:,;])|(?P<word>[^\s{}\[\]<>:,;#"']+)|(?P<other>\S)"""
)
_CLOSES = {"}": "{", ">": "<", "]": "["}


class Field(NamedTuple):
    """A field, or an element of a list: its dotted path, and where it begins, its value begins, and it ends.

    The end includes a `,` or `;`, so that what is cut out leaves a text of the same form. `words` are the tokens
    of a plain value and `name` is the field's own; a message has neither words nor, in a list, a name.
    """

    path: str
    begin: int
    value: int
    end: int
    name: re.Match[str] | None = None
    words: tuple[re.Match[str], ...] = ()

    @property
    def holes(self) -> list[str]:
        """What in it is a placeholder by its form."""
        tokens = (self.name, *self.words) if self.name is not None else self.words
        return [token[0] for token in tokens if token.lastgroup == "hole"]


class _Open(NamedTuple):
    """A message or list that is not closed yet."""

    mark: str
    path: str
    begin: int
    value: int
    name: re.Match[str] | None


class _Walk:
    """The state of a walk over tokens; what is yielded is in the order of the fields' ends."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._name: re.Match[str] | None = None
        self._colon = False
        self._words: list[re.Match[str]] = []

    def take(self, token: re.Match[str]) -> Iterator[Field]:
        """Take the next token and yield the fields that it ends."""
        text = token[0]
        if text in ",;":
            yield from self.end(token.end())
        elif text in "{<[":
            yield from self._opened(token)
        elif text in "}>]":
            yield from self.end()
            yield from self._closed(token)
        elif text == ":":
            self._colon = True
        elif self._in_list or (self._colon and self._continues(token)):
            self._words.append(token)
        else:
            yield from self.end()
            self._name = token

    def end(self, separated: int = 0) -> Iterator[Field]:
        """Yield the plain field that ends here, or with a separator that ends at `separated`."""
        words, name, path = tuple(self._words), self._name, self._path()
        self._name, self._colon, self._words = None, False, []
        if words or name is not None:
            first, last = name or words[0], words[-1] if words else name
            value = words[0].start() if words else first.end()
            yield Field(path, first.start(), value, max(last.end() if last else 0, separated), name, words)

    @property
    def _in_list(self) -> bool:
        return self._name is None and bool(self._open) and self._open[-1].mark == "["

    def _continues(self, token: re.Match[str]) -> bool:
        """Tell whether `token` belongs to the value so far: its first word, or one string after another."""
        before = self._words[-1] if self._words else None
        return before is None or before[0] == "-" or (before.lastgroup == token.lastgroup == "text")

    def _path(self) -> str:
        above = self._open[-1].path if self._open else ""
        own = self._name[0] if self._name is not None else ""
        return f"{above}.{own}" if above and own else above or own

    def _opened(self, token: re.Match[str]) -> Iterator[Field]:
        if self._words:
            yield from self.end()
        begin = self._name.start() if self._name is not None else token.start()
        self._open.append(_Open(token[0], self._path(), begin, token.end(), self._name))
        self._name, self._colon = None, False

    def _closed(self, token: re.Match[str]) -> Iterator[Field]:
        if self._open and self._open[-1].mark == _CLOSES[token[0]]:
            opened = self._open.pop()
            yield Field(opened.path, opened.begin, opened.value, token.end(), opened.name)


def walk(text: str) -> Iterator[Field]:
    """Yield the fields of `text`, inner ones before those around them; nothing is too broken to be walked."""
    state = _Walk()
    for token in _TEMPLATE_TOKEN.finditer(text):
        if token.lastgroup != "comment":
            yield from state.take(token)
    yield from state.end()


def blanked(text: str, begin: int, end: int, instead: str = "") -> str:
    """Return `text` with spaces, after `instead`, from `begin` to `end`: lines and columns stay what they were."""
    gap = "".join(char if char in "\r\n" else " " for char in text[begin + len(instead) : end])
    return f"{text[:begin]}{instead}{gap}{text[end:]}"
