"""The writing end of a ring, inside a stub process: no system call and no lock once it is open."""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path
from zlib import crc32

import msgspec

from tritonscope.records import InstanceRecord, Record
from tritonscope.ring.layout import (
    FRAME,
    HEAD_BYTES,
    IDENTITY_BYTES,
    IDENTITY_OFFSET,
    MAGIC,
    SKIP,
    VERSION,
    WORDS,
    Word,
    padded,
)
from tritonscope.settings import DEFAULT_RING_BYTES

_DROPS, _READ, _WRITTEN = int(Word.DROPS), int(Word.READ), int(Word.WRITTEN)


class RingWriter:
    """Creates the file of a ring and appends records to it.

    `words` is the head as 64-bit words: whoever fills the scoreboard stores into it directly.

    Raises:
        OSError: the file cannot be created, or its folder has no room for it.
    """

    def __init__(self, path: Path, instance: InstanceRecord, capacity_bytes: int = DEFAULT_RING_BYTES) -> None:
        self.path = path
        self._capacity = capacity_bytes & ~7
        self._encode = msgspec.msgpack.Encoder().encode
        self._written = 0
        self._frames = 0
        self._fd = _create(path, HEAD_BYTES + self._capacity)
        self._map = mmap.mmap(self._fd, HEAD_BYTES + self._capacity)
        self._view = memoryview(self._map)
        self.words = self._view[: WORDS * 8].cast("Q")
        self._introduce(instance)

    def write(self, record: Record) -> bool:
        """Append `record`; return False, and count a drop, when the reader has left no room for it."""
        payload = self._encode(record)
        size = padded(len(payload))
        offset = self._written % self._capacity
        rest = self._capacity - offset
        skipped = rest if size > rest else 0
        if self._written + skipped + size - self.words[_READ] > self._capacity:
            self.words[_DROPS] += 1
            return False
        if skipped:
            self._skip(offset, rest)
            offset = 0
        self._put(HEAD_BYTES + offset, payload)
        # The head moves last. A reader that sees it before the payload (weakly ordered processors may do
        # that) finds a wrong number or checksum and comes back later.
        self._written += skipped + size
        self.words[_WRITTEN] = self._written
        return True

    def close(self) -> None:
        """Let go of the file; it stays for its reader, who sees that the writer is gone.

        In a forked child this ends only the child's part: the parent's lock and mapping stay.
        """
        self.words.release()
        self._view.release()
        self._map.close()
        os.close(self._fd)

    def _put(self, at: int, payload: bytes) -> None:
        start = at + FRAME.size
        self._view[start : start + len(payload)] = payload
        FRAME.pack_into(self._map, at, len(payload), crc32(payload), self._frames)
        self._frames += 1

    def _skip(self, offset: int, rest: int) -> None:
        if rest >= FRAME.size:
            FRAME.pack_into(self._map, HEAD_BYTES + offset, SKIP, 0, self._frames)

    def _introduce(self, instance: InstanceRecord) -> None:
        identity = self._encode(instance)
        if len(identity) > IDENTITY_BYTES:
            identity = self._encode(msgspec.structs.replace(instance, repository="", python=""))
        self._view[IDENTITY_OFFSET : IDENTITY_OFFSET + 4] = len(identity).to_bytes(4, "little")
        self._view[IDENTITY_OFFSET + 4 : IDENTITY_OFFSET + 4 + len(identity)] = identity
        self.words[Word.VERSION] = VERSION
        self.words[Word.CAPACITY] = self._capacity
        self.words[Word.PID] = instance.pid
        self.words[Word.MAGIC] = MAGIC


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
