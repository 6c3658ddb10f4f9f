"""The reading end of a ring, in the agent or in any tool that may read the file.

It reads with pread, never through a mapping: a file that is cut short must not kill its reader.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import msgspec

from tritonscope.records import Event, InstanceRecord, RequestRecord
from tritonscope.ring.layout import (
    FLIGHT,
    FLIGHT_BYTES,
    FLIGHT_OFFSET,
    FRAME,
    HEAD_BYTES,
    IDENTITY_BYTES,
    IDENTITY_OFFSET,
    MAGIC,
    SKIP,
    VERSION,
    WORDS,
    RingFormatError,
    Scoreboard,
    State,
    Word,
    padded,
)

# A frame that is still wrong after so many reads was not in flight: it is damaged.
_PATIENCE = 5


class RingReader:
    """Reads one ring in order, each record at least once.

    What `read` returned counts as read when `read` is called again, or at `close`: a reader that is killed in
    between leaves its last records to its successor.

    Raises:
        RingFormatError: the file is not a ring (yet), or one of another layout.
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            words = self._words()
            self._capacity = _check(words, path)
            self.instance = self._identity()
        except BaseException:
            os.close(self._fd)
            raise
        self._position = words[Word.READ]
        self._number: int | None = None
        self._failed_reads = 0
        self._corrupt = 0
        self._decode = msgspec.msgpack.Decoder(Event).decode

    def read(self, limit: int = 1024) -> list[Event]:
        """Return up to `limit` records that follow those of the last call, oldest first; empty if none."""
        self._commit()
        written = self._words()[Word.WRITTEN]
        records: list[Event] = []
        for payload in self._frames(written):
            self._keep(payload, records)
            if len(records) == limit:
                break
        else:
            self._judge(written)
        return records

    def scoreboard(self) -> Scoreboard:
        """Return what the stub does now; works with and without anybody reading the records."""
        words = self._words()
        return Scoreboard(
            pid=words[Word.PID],
            state=State(words[Word.STATE]),
            since_ns=words[Word.SINCE_NS],
            batch_size=words[Word.BATCH_SIZE],
            batches=words[Word.BATCHES],
            requests=words[Word.REQUESTS],
            failures=words[Word.FAILURES],
            busy_ns=words[Word.BUSY_NS],
            cpu_ns=words[Word.CPU_NS],
            gil_ns=words[Word.GIL_NS],
            drops=words[Word.DROPS],
            written_bytes=words[Word.WRITTEN],
            read_bytes=self._position,
            corrupt=self._corrupt,
        )

    def in_flight(self) -> tuple[int, tuple[RequestRecord, ...]]:
        """Return the number and the requests of the batch that `execute` got last; no requests if unknown."""
        sequence, size = FLIGHT.unpack(os.pread(self._fd, FLIGHT.size, FLIGHT_OFFSET))
        text = os.pread(self._fd, min(size, FLIGHT_BYTES), FLIGHT_OFFSET + FLIGHT.size)
        try:
            return sequence, msgspec.msgpack.decode(text, type=tuple[RequestRecord, ...])
        except msgspec.MsgspecError:
            return sequence, ()

    def writer_alive(self) -> bool:
        """Whether the stub still holds its lock, in whichever PID namespace it runs."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return False

    def close(self) -> None:
        """Count what was returned as read, and let go of the file."""
        self._commit()
        os.close(self._fd)

    def _words(self) -> tuple[int, ...]:
        head = os.pread(self._fd, WORDS * 8, 0)
        if len(head) < WORDS * 8:
            raise RingFormatError(f"{self.path}: shorter than a ring's head")
        return struct.unpack(f"={WORDS}Q", head)

    def _identity(self) -> InstanceRecord:
        size = int.from_bytes(os.pread(self._fd, 4, IDENTITY_OFFSET), "little")
        text = os.pread(self._fd, min(size, IDENTITY_BYTES), IDENTITY_OFFSET + 4)
        try:
            return msgspec.msgpack.decode(text, type=InstanceRecord)
        except msgspec.MsgspecError as error:
            raise RingFormatError(f"{self.path}: the instance's identity is damaged: {error}") from error

    def _commit(self) -> None:
        os.pwrite(self._fd, struct.pack("=Q", self._position), Word.READ * 8)

    def _frames(self, written: int) -> Iterator[bytes]:
        """Yield the payloads up to `written`, moving the position past each; stop at one that is not whole."""
        while self._position < written:
            offset = self._position % self._capacity
            end = min(offset + written - self._position, self._capacity)
            chunk = os.pread(self._fd, end - offset, HEAD_BYTES + offset)
            before = self._position
            yield from self._chunk(chunk, self._capacity - offset)
            if self._position == before:
                return

    def _chunk(self, chunk: bytes, to_the_end: int) -> Iterator[bytes]:
        at = 0
        while at < len(chunk):
            if to_the_end - at < FRAME.size:
                self._position += to_the_end - at
                return
            if len(chunk) - at < FRAME.size:
                return
            size, checksum, number = FRAME.unpack_from(chunk, at)
            if size == SKIP:
                self._position += to_the_end - at
                return
            payload = chunk[at + FRAME.size : at + FRAME.size + size]
            if len(payload) < size or crc32(payload) != checksum or self._number not in (None, number):
                return
            self._number = number + 1
            self._failed_reads = 0
            self._position += padded(size)
            at += padded(size)
            yield payload

    def _keep(self, payload: bytes, records: list[Event]) -> None:
        try:
            records.append(self._decode(payload))
        except msgspec.MsgspecError:
            # Whole, but of a kind that this reader does not know: a newer stub wrote it.
            self._corrupt += 1

    def _judge(self, written: int) -> None:
        """Give a frame that is not whole some more reads, then step over everything written so far."""
        if self._position >= written:
            return
        self._failed_reads += 1
        if self._failed_reads >= _PATIENCE:
            self._corrupt += 1
            self._position = written
            self._number = None
            self._failed_reads = 0


def _check(words: tuple[int, ...], path: Path) -> int:
    if words[Word.MAGIC] != MAGIC:
        raise RingFormatError(f"{path}: not a ring, or one that is being created")
    if words[Word.VERSION] != VERSION:
        raise RingFormatError(f"{path}: a ring of layout {words[Word.VERSION]}; this reads layout {VERSION}")
    return words[Word.CAPACITY]
