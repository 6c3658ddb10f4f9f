"""The writing end of a ring, inside a stub process: no system call and no lock once it is open."""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from pathlib import Path
from zlib import crc32

import msgspec

from tritonscope.records import InstanceRecord, Record
from tritonscope.ring.layout import (
    FLIGHT,
    FLIGHT_BYTES,
    FLIGHT_OFFSET,
    FRAME,
    HEAD_BYTES,
    IDENTITY_BYTES,
    IDENTITY_OFFSET,
    MAGIC,
    SCORES,
    SCORES_OFFSET,
    SKIP,
    STATUS,
    VERSION,
    WORDS,
    Word,
)
from tritonscope.settings import DEFAULT_RING_BYTES

_FLIGHT_START = FLIGHT_OFFSET + FLIGHT.size
_FRAME_BYTES = FRAME.size
# Bound once: they run for each batch.
_pack_frame, _pack_flight = FRAME.pack_into, FLIGHT.pack_into
_pack_scores, _pack_status = SCORES.pack_into, STATUS.pack_into
_READ, _WRITTEN = int(Word.READ), int(Word.WRITTEN)


class Scores:
    """The scoreboard's figures as the writer keeps them; `show` stores them where any reader sees them."""

    __slots__ = (
        "batch_size",
        "batches",
        "busy_ns",
        "cpu_ns",
        "failures",
        "gil_ns",
        "requests",
        "since_ns",
        "state",
    )

    def __init__(self) -> None:
        self.state = self.since_ns = self.batch_size = self.batches = self.requests = 0
        self.failures = self.busy_ns = self.cpu_ns = self.gil_ns = 0


class RingWriter:
    """Creates the file of a ring, appends records to it and keeps its scoreboard.

    Raises:
        OSError: the file cannot be created, or its folder has no room for it.
    """

    def __init__(self, path: Path, instance: InstanceRecord, capacity_bytes: int = DEFAULT_RING_BYTES) -> None:
        self.path = path
        self.scores = Scores()
        self.drops = 0
        self._capacity = capacity_bytes & ~7
        self._encode = msgspec.msgpack.Encoder().encode
        self._written = 0
        self._frames = 0
        self._fd = _create(path, HEAD_BYTES + self._capacity)
        self._map = mmap.mmap(self._fd, HEAD_BYTES + self._capacity)
        self._view = memoryview(self._map)
        self._words = self._view[: WORDS * 8].cast("Q")
        # The ring ends with the last that could write to it, be it a thread that outlives its model.
        self._close_file = weakref.finalize(self, os.close, self._fd)
        self._introduce(instance)

    def write(self, record: Record) -> bool:
        """Append `record`; return False, and count a drop, when the reader has left no room for it."""
        payload = self._encode(record)
        length = len(payload)
        size = (_FRAME_BYTES + length + 7) & ~7  # `padded`, without a call
        offset = self._written % self._capacity
        rest = self._capacity - offset
        skipped = rest if size > rest else 0
        written = self._written + skipped + size
        if written - self._words[_READ] > self._capacity:
            self.drops += 1
            return False
        if skipped:
            self._skip(offset, rest)
            offset = 0
        at = HEAD_BYTES + offset
        _pack_frame(self._map, at, length, crc32(payload), self._frames)
        at += _FRAME_BYTES
        self._map[at : at + length] = payload
        self._frames += 1
        # The head moves last. A reader that sees it before the frame (weakly ordered processors may do
        # that) finds a wrong number or checksum and comes back later.
        self._written = self._words[_WRITTEN] = written
        return True

    def show(self) -> None:
        """Store all of the scoreboard."""
        s = self.scores
        _pack_scores(
            self._map, SCORES_OFFSET, s.state, s.since_ns, s.batch_size, s.batches, s.requests, s.failures,
            s.busy_ns, s.cpu_ns, s.gil_ns, self.drops,
        )  # fmt: skip

    def show_batch(self, sequence: int, requests: bytes) -> None:
        """Store who is in the batch that begins; `requests` is their MessagePack, left out where it is too long.

        If the stub dies now, this is how its reader knows whom it took along.
        """
        length = len(requests)
        if length > FLIGHT_BYTES:
            length, requests = 0, b""
        _pack_flight(self._map, FLIGHT_OFFSET, sequence, length)
        self._map[_FLIGHT_START : _FLIGHT_START + length] = requests

    def show_status(self) -> None:
        """Store what changes when a batch begins: state, since when, batch size."""
        s = self.scores
        _pack_status(self._map, SCORES_OFFSET, s.state, s.since_ns, s.batch_size)

    def close(self) -> None:
        """Let go of the file; it stays for its reader, who sees that the writer is gone.

        In a forked child this ends only the child's part: the parent's lock and mapping stay.
        """
        self._words.release()
        self._view.release()
        self._map.close()
        self._close_file()

    def _skip(self, offset: int, rest: int) -> None:
        if rest >= FRAME.size:
            FRAME.pack_into(self._map, HEAD_BYTES + offset, SKIP, 0, self._frames)

    def _introduce(self, instance: InstanceRecord) -> None:
        identity = self._encode(instance)
        if len(identity) > IDENTITY_BYTES:
            identity = self._encode(msgspec.structs.replace(instance, repository="", python=""))
        self._view[IDENTITY_OFFSET : IDENTITY_OFFSET + 4] = len(identity).to_bytes(4, "little")
        self._view[IDENTITY_OFFSET + 4 : IDENTITY_OFFSET + 4 + len(identity)] = identity
        self._words[Word.VERSION] = VERSION
        self._words[Word.CAPACITY] = self._capacity
        self._words[Word.PID] = instance.pid
        self._words[Word.MAGIC] = MAGIC


def _create(path: Path, size: int) -> int:
    """Return a descriptor of a new file of `size` bytes that is locked for the life of this process.

    The blocks are reserved now: a write into a mapped hole of a full /dev/shm would kill the model. The lock
    tells a reader in any PID namespace that the writer lives; a forked child must `close` its copy.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o660)
    try:
        os.posix_fallocate(fd, 0, size)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        path.unlink(missing_ok=True)
        raise
    return fd
