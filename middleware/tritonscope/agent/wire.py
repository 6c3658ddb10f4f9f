"""Protobuf's wire format, as far as OTLP needs it: bytes of fields, made without a message object.

Source: https://protobuf.dev/programming-guides/encoding/. A field starts with its tag, `number << 3 | wire type`.
"""

from __future__ import annotations

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_64_BITS = (1 << 64) - 1
_SHORT = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """Return `value` in groups of seven bits; a negative one as its two's complement of 64 bits."""
    if 0 <= value < 0x80:  # noqa: PLR2004 - what fits seven bits
        return _SHORT[value]
    value &= _64_BITS
    groups = bytearray()
    while value > 0x7F:  # noqa: PLR2004
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def tag_of_varint(number: int) -> bytes:
    """Return the tag of an int, bool or enum field."""
    return varint(number << 3 | _VARINT)


def tag_of_fixed64(number: int) -> bytes:
    """Return the tag of a fixed64 field."""
    return varint(number << 3 | _FIXED64)


def tag_of_fixed32(number: int) -> bytes:
    """Return the tag of a fixed32 field."""
    return varint(number << 3 | _FIXED32)


def tag_of_bytes(number: int) -> bytes:
    """Return the tag of a string, bytes or message field."""
    return varint(number << 3 | _LENGTH)


def sized(tag: bytes, content: bytes) -> bytes:
    """Return a string, bytes or message field."""
    return tag + varint(len(content)) + content
