"""The run file of an agent. A disk that is full ends the recording, never the agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tritonscope.records import Event, InstanceRecord
from tritonscope.runs import RunWriter
from tritonscope.settings import log


class Recording:
    """Writes what the agent reads into a run file.

    Raises:
        RunFileError: the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: RunWriter | None = RunWriter(path)

    def begin(self, instance: InstanceRecord) -> None:
        """Note a new instance."""
        self._attempt(lambda writer: writer.write_instance(instance))

    def add(self, instance: InstanceRecord, records: Sequence[Event]) -> None:
        """Note what an instance did."""
        self._attempt(lambda writer: writer.write_events(instance.instance, records))

    def flush(self) -> None:
        """Make what was noted visible to readers of the file."""
        self._attempt(lambda writer: writer.flush())

    def close(self) -> None:
        """Finish the file."""
        self._attempt(lambda writer: writer.close())

    def _attempt(self, write: Callable[[RunWriter], object]) -> None:
        if self._writer is None:
            return
        try:
            write(self._writer)
        except OSError as error:
            with suppress(OSError):
                self._writer.close()
            self._writer = None
            log.warning("the run file %s ends here: %s", self._path, error.strerror)
