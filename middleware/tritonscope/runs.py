"""A run: one recorded period, saved as one file that every report can be made from again.

The file is JSON Lines: a header, then one tagged record a line, appended by whoever has something to add (the agent
its batches, a load its report, ...). A line that was cut off when its writer died is counted and costs only itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from tritonscope import __version__
from tritonscope.errors import RunFileError
from tritonscope.evidence import HostSample, LoadReport, StatisticsSample
from tritonscope.records import BatchRecord, Event, InstanceRecord, LateRecord, LifecycleRecord

FORMAT = "tritonscope-run"
VERSION = 1
_BLOCK_BYTES = 1 << 16
_HEADER_LIMIT_BYTES = 1 << 12


class Header(msgspec.Struct, frozen=True):
    """The first line. `monotonic_offset_ns` is the wall clock minus CLOCK_MONOTONIC when the file was begun."""

    format: str
    version: int
    tritonscope: str
    created_unix_ns: int
    monotonic_offset_ns: int


class InstanceLine(msgspec.Struct, frozen=True, tag="instance"):
    """An instance that later lines name by its key."""

    record: InstanceRecord


class BatchesLine(msgspec.Struct, frozen=True, tag="batches"):
    """Batches of one instance, oldest first."""

    instance: str
    records: tuple[BatchRecord, ...]


class EventsLine(msgspec.Struct, frozen=True, tag="events"):
    """What an instance did besides its batches, oldest first: hooks, and what ended after its batch."""

    instance: str
    records: tuple[LateRecord | LifecycleRecord, ...]


class ConfigLine(msgspec.Struct, frozen=True, tag="config"):
    """A model's configuration: as Triton's JSON where a server was asked, as text where a file was read."""

    model: str
    json: dict[str, Any] | None = None
    text: str = ""
    path: str = ""


Evidence = StatisticsSample | HostSample | LoadReport | ConfigLine
Line = InstanceLine | BatchesLine | EventsLine | ConfigLine | StatisticsSample | HostSample | LoadReport


class Run(NamedTuple):
    """All of a run file. `batches` has a key for each instance, `damaged_lines` the numbers of unreadable lines.

    `events` is what instances did besides batches, for those that did: late details and calls of other hooks.
    """

    header: Header
    instances: Mapping[str, InstanceRecord]
    batches: Mapping[str, Sequence[BatchRecord]]
    statistics: tuple[StatisticsSample, ...]
    hosts: tuple[HostSample, ...]
    loads: tuple[LoadReport, ...]
    configs: Mapping[str, ConfigLine]
    damaged_lines: tuple[int, ...] = ()
    events: Mapping[str, Sequence[LateRecord | LifecycleRecord]] = MappingProxyType({})


class RunWriter:
    """Appends to a run file; begins it where there is none. Several may do so, one after the other.

    Raises:
        RunFileError: the file cannot be created or written, or exists and is no run file.
    """

    def __init__(self, path: Path) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._pending = bytearray()
        begun = path.exists() and path.stat().st_size > 0
        if begun:
            _read_header(path)
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFileError(f"the run file {path} cannot be written: {error.strerror}") from None
        if not begun:
            self._add(_new_header())
        elif os.pread(self._fd, 1, os.fstat(self._fd).st_size - 1) != b"\n":
            # The writer before us died within a line; ours must not become a part of it.
            self._pending += b"\n"

    def write_instance(self, record: InstanceRecord) -> None:
        """Add an instance; write it before its batches."""
        self._add(InstanceLine(record))

    def write_events(self, instance: str, records: Sequence[Event]) -> None:
        """Add what the instance that is named `instance` did: batches, and what else there is."""
        batches = tuple(record for record in records if isinstance(record, BatchRecord))
        others = tuple(record for record in records if not isinstance(record, BatchRecord))
        if batches:
            self._add(BatchesLine(instance, batches))
        if others:
            self._add(EventsLine(instance, others))

    def write(self, evidence: Evidence) -> None:
        """Add a piece of evidence."""
        self._add(evidence)

    def flush(self) -> None:
        """Hand whole lines to the file, so that another reader never sees a part of one.

        Raises:
            OSError: the disk is full, say.
        """
        while self._pending:
            del self._pending[: os.write(self._fd, self._pending)]

    def close(self) -> None:
        """Flush and finish.

        Raises:
            OSError: as `flush`.
        """
        try:
            self.flush()
        finally:
            os.close(self._fd)

    def _add(self, line: object) -> None:
        self._pending += self._encode(line) + b"\n"
        if len(self._pending) > _BLOCK_BYTES:
            self.flush()


def read_run(path: Path) -> Run:
    """Return what a run file holds.

    Raises:
        RunFileError: it does not exist, another program wrote it, or a newer tritonscope did.
    """
    header = _read_header(path)
    decode = msgspec.json.Decoder(Line).decode
    lines: list[Line] = []
    damaged: list[int] = []
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if number == 1:
                continue
            try:
                lines.append(decode(text))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                damaged.append(number)
    return _sorted(header, lines)._replace(damaged_lines=tuple(damaged))


def _new_header() -> Header:
    now_ns = time.time_ns()
    return Header(FORMAT, VERSION, __version__, now_ns, now_ns - time.monotonic_ns())


def _read_header(path: Path) -> Header:
    try:
        with path.open("rb") as file:
            header = msgspec.json.decode(file.readline(_HEADER_LIMIT_BYTES), type=Header)
    except OSError as error:
        raise RunFileError(f"the run file {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise RunFileError(f"{path} is not a run file: its first line is not a run's header") from None
    if header.format != FORMAT:
        raise RunFileError(f"{path} is not a run file: its format is {header.format!r}, not {FORMAT!r}")
    if header.version > VERSION:
        raise RunFileError(
            f"{path} was written by tritonscope {header.tritonscope} in format {header.version}; "
            f"this one reads format {VERSION}: upgrade tritonscope"
        )
    return header


def _sorted(header: Header, lines: Sequence[Line]) -> Run:
    instances = {line.record.instance: line.record for line in lines if isinstance(line, InstanceLine)}
    batches: dict[str, list[BatchRecord]] = {key: [] for key in instances}
    events: dict[str, list[LateRecord | LifecycleRecord]] = {}
    for line in lines:
        if isinstance(line, BatchesLine):
            batches.setdefault(line.instance, []).extend(line.records)
        elif isinstance(line, EventsLine):
            events.setdefault(line.instance, []).extend(line.records)
    return Run(
        header=header,
        instances=instances,
        batches=batches,
        statistics=tuple(line for line in lines if isinstance(line, StatisticsSample)),
        hosts=tuple(line for line in lines if isinstance(line, HostSample)),
        loads=tuple(line for line in lines if isinstance(line, LoadReport)),
        configs={line.model: line for line in lines if isinstance(line, ConfigLine)},
        events=events,
    )
