"""A run: one recorded period, saved as one file that every report can be made from again.

The file is JSON Lines: a header, then one tagged record a line, appended by whoever has something to add (the agent
its batches, a load its report, ...). A line that was cut off when its writer died is counted and costs only itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tritonscope import __version__
from tritonscope.errors import RunFileError
from tritonscope.evidence import HostSample, LoadReport, StatisticsSample
from tritonscope.records import BatchRecord, InstanceRecord

FORMAT = "tritonscope-run"
VERSION = 1
_BLOCK_BYTES = 1 << 16


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


class ConfigLine(msgspec.Struct, frozen=True, tag="config"):
    """A model's configuration: as Triton's JSON where a server was asked, as text where a file was read."""

    model: str
    json: dict[str, Any] | None = None
    text: str = ""
    path: str = ""


Evidence = StatisticsSample | HostSample | LoadReport | ConfigLine
Line = InstanceLine | BatchesLine | ConfigLine | StatisticsSample | HostSample | LoadReport


class Run(msgspec.Struct, frozen=True):
    """All of a run file; `batches` has a key for each instance, and `damaged_lines` could not be read."""

    header: Header
    instances: dict[str, InstanceRecord]
    batches: dict[str, list[BatchRecord]]
    statistics: list[StatisticsSample]
    hosts: list[HostSample]
    loads: list[LoadReport]
    configs: dict[str, ConfigLine]
    damaged_lines: int = 0


class RunWriter:
    """Appends to a run file; begins it where there is none.

    Raises:
        RunFileError: the file cannot be created, or exists and is no run file.
    """

    def __init__(self, path: Path) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._pending = bytearray()
        begun = path.exists() and path.stat().st_size > 0
        if begun:
            _read_header(path)
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFileError(f"the run file {path} cannot be written: {error.strerror}") from None
        if not begun:
            self._add(_new_header())

    def write_instance(self, record: InstanceRecord) -> None:
        """Add an instance; write it before its batches."""
        self._add(InstanceLine(record))

    def write_batches(self, instance: str, records: Sequence[BatchRecord]) -> None:
        """Add batches of the instance that is named `instance`."""
        if records:
            self._add(BatchesLine(instance, tuple(records)))

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
        """Finish."""
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
    run = Run(_read_header(path), {}, {}, [], [], [], {})
    decode = msgspec.json.Decoder(Line).decode
    damaged = 0
    with path.open("rb") as file:
        next(file)
        for text in file:
            try:
                _take(run, decode(text))
            except msgspec.MsgspecError:  # noqa: PERF203 - one bad line must not cost the others
                damaged += 1
    return msgspec.structs.replace(run, damaged_lines=damaged)


def _new_header() -> Header:
    now_ns = time.time_ns()
    return Header(FORMAT, VERSION, __version__, now_ns, now_ns - time.monotonic_ns())


def _read_header(path: Path) -> Header:
    try:
        with path.open("rb") as file:
            header = msgspec.json.decode(file.readline(), type=Header)
    except OSError as error:
        raise RunFileError(f"the run file {path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError:
        raise RunFileError(f"{path} is not a run file: its first line is not a run's header") from None
    if header.format != FORMAT:
        raise RunFileError(f"{path} is not a run file: its format is {header.format!r}, not {FORMAT!r}")
    if header.version > VERSION:
        raise RunFileError(
            f"{path} was written by tritonscope {header.tritonscope} in format {header.version}; "
            f"this one reads format {VERSION}: upgrade tritonscope"
        )
    return header


def _take(run: Run, line: Line) -> None:
    match line:
        case InstanceLine(record):
            run.instances[record.instance] = record
            run.batches.setdefault(record.instance, [])
        case BatchesLine(instance, records):
            run.batches.setdefault(instance, []).extend(records)
        case ConfigLine():
            run.configs[line.model] = line
        case StatisticsSample():
            run.statistics.append(line)
        case HostSample():
            run.hosts.append(line)
        case LoadReport():
            run.loads.append(line)
