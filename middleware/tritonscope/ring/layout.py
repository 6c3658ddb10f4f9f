"""Where things lie in a ring file.

The head is one page of 64-bit words in native order (both ends run on one host), then the identity of the
instance, then the ring itself:

    word 0        magic, written last: a file without it is not a ring yet
    word 1        layout version
    word 2        capacity of the ring, in bytes
    words 8 - 18  the scoreboard: what the stub does now (`Word`)
    word 32       bytes written since the start (only the writer stores it)
    word 48       bytes read since the start (only the reader stores it; on a cache line of its own)
    byte 1024     32-bit length of the identity, then the identity (an InstanceRecord in MessagePack)
    byte 4096     the batch in flight: its 64-bit number, a 32-bit length, its requests in MessagePack
    byte 20480    the ring

A frame is a 32-bit length, a 32-bit checksum of the payload, the 64-bit number of the frame, and the payload,
padded to 8 bytes. No frame wraps: where the rest of the ring is too short, a frame of length `SKIP` (or nothing,
when not even a frame's head fits) sends the reader back to the start.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

MAGIC = int.from_bytes(b"tscope\x00R", "little")
VERSION = 1
IDENTITY_OFFSET = 1024
FLIGHT_OFFSET = 4096
HEAD_BYTES = 20480
IDENTITY_BYTES = FLIGHT_OFFSET - IDENTITY_OFFSET - 4
WORDS = IDENTITY_OFFSET // 8
SUFFIX = ".ring"

FRAME = struct.Struct("=IIQ")
# The scoreboard's words from STATE on, and the three of them that change when a batch begins.
SCORES = struct.Struct("=10Q")
STATUS = struct.Struct("=3Q")
SCORES_OFFSET = 9 * 8
FLIGHT = struct.Struct("=QI")
FLIGHT_BYTES = HEAD_BYTES - FLIGHT_OFFSET - FLIGHT.size
SKIP = 0xFFFFFFFF


class Word(IntEnum):
    """Index of each 64-bit word of the head."""

    MAGIC = 0
    VERSION = 1
    CAPACITY = 2
    PID = 8
    STATE = 9
    SINCE_NS = 10
    BATCH_SIZE = 11
    BATCHES = 12
    REQUESTS = 13
    FAILURES = 14
    BUSY_NS = 15
    CPU_NS = 16
    GIL_NS = 17
    DROPS = 18
    WRITTEN = 32
    READ = 48


class State(IntEnum):
    """What a stub is doing."""

    LOADING = 0
    IDLE = 1
    EXECUTING = 2
    FINALIZED = 3
    UNKNOWN = 255

    @classmethod
    def _missing_(cls, value: object) -> State:  # noqa: ARG003 - the signature is enum's
        """A newer writer may be in a state that this reader has no word for."""
        return cls.UNKNOWN


class Scoreboard(NamedTuple):
    """What a stub does now and has done so far. `since_ns` is when `state` began, on CLOCK_MONOTONIC."""

    pid: int
    state: State
    since_ns: int
    batch_size: int
    batches: int
    requests: int
    failures: int
    busy_ns: int
    cpu_ns: int
    gil_ns: int
    drops: int
    written_bytes: int
    read_bytes: int
    corrupt: int


class RingFormatError(Exception):
    """The file is not a ring, not a ring yet, or one of another layout. Readers skip it."""


def padded(payload_bytes: int) -> int:
    """Return the bytes that a frame with such a payload takes in the ring."""
    return (FRAME.size + payload_bytes + 7) & ~7
