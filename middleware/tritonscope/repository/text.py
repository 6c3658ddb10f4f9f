"""A configuration file's bytes to text, whatever wrote them, and what Triton would not read."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

# Longest mark first: that of UTF-16 begins that of UTF-32.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
# Two Chinese characters in a row; Latin-1 texts hardly have four letters beyond ASCII in a row.
_CHINESE = re.compile(rb"[\x81-\xfe]{4}")


class Text(NamedTuple):
    """A file's text and the Python name of its encoding."""

    text: str
    encoding: str

    @property
    def is_triton_s(self) -> bool:
        """Whether Triton reads it: protobuf's C++ parser wants bytes that contain ASCII, and no mark before them.

        Seen on Triton 2.51: it loads UTF-8, Latin-1 and GBK, in comments and in strings, and refuses the others.
        """
        return self.encoding in {"utf-8", "latin-1", "gb18030"}


def decode(data: bytes) -> Text:
    """Return the text of any bytes; what is neither Unicode nor Chinese is taken for Latin-1, which fits all."""
    for encoding in (*_marked(data), *_without_mark(data), "utf-8", *_chinese(data)):
        try:
            return Text(data.decode(encoding), encoding)
        except UnicodeDecodeError:  # noqa: PERF203 - the next encoding's turn
            continue
    return Text(data.decode("latin-1"), "latin-1")


def _marked(data: bytes) -> list[str]:
    return [encoding for mark, encoding in _MARKS.items() if data.startswith(mark)][:1]


def _without_mark(data: bytes) -> list[str]:
    """UTF-16 of ASCII text has a zero in every other byte; a configuration begins with ASCII."""
    zeros = "".join("0" if byte == 0 else "x" for byte in data[:4])
    return {"x0x0": ["utf-16-le"], "0x0x": ["utf-16-be"]}.get(zeros, [])


def _chinese(data: bytes) -> list[str]:
    return ["gb18030"] if _CHINESE.search(data) else []
