"""One agent a folder; rings are found as they come, and what is no ring is told of once."""

import os
from pathlib import Path

import pytest

from tritonscope.agent.folder import LOCK, FolderLock, RingFolder
from tritonscope.errors import RingDirectoryError
from tritonscope.ring.writer import RingWriter


def names(folder: RingFolder) -> list[str]:
    readers = list(folder.discover())
    for reader in readers:
        reader.close()
    return [reader.path.name for reader in readers]


def old(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def test_a_folder_is_made_and_held(tmp_path):
    directory = tmp_path / "a" / "b"
    lock = FolderLock(directory)
    with pytest.raises(RingDirectoryError, match=rf"process {os.getpid()}\) already reads .*--dir"):
        FolderLock(directory)
    lock.release()
    FolderLock(directory).release()


def test_a_lock_left_by_a_longer_process_id_is_overwritten_whole(tmp_path):
    (tmp_path / LOCK).write_text("4194303999\n")
    FolderLock(tmp_path).release()
    assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RingDirectoryError, match=r"file/rings.*--dir or TRITONSCOPE_DIR"):
        FolderLock(tmp_path / "file" / "rings")


def test_a_folder_that_is_gone_is_named(tmp_path):
    with pytest.raises(RingDirectoryError, match="gone"):
        list(RingFolder(tmp_path / "gone").discover())


def test_each_ring_is_opened_once(tmp_path, ring_writer, instance):
    folder = RingFolder(tmp_path)
    assert names(folder) == ["decode.ring"]
    late = RingWriter(tmp_path / "late.ring", instance)
    assert names(folder) == ["late.ring"]
    assert names(folder) == []
    late.close()


def test_other_files_are_left_alone(tmp_path, caplog):
    old(tmp_path / LOCK) if (tmp_path / LOCK).exists() else (tmp_path / "notes.txt").touch()
    assert names(RingFolder(tmp_path)) == []
    assert not caplog.records


@pytest.mark.parametrize("content", [b"", b"no ring", b"\0" * 8192])
def test_a_foreign_file_is_skipped_with_one_line(tmp_path, content, caplog):
    (tmp_path / "foreign.ring").write_bytes(content)
    old(tmp_path / "foreign.ring")
    folder = RingFolder(tmp_path)
    assert [names(folder), names(folder)] == [[], []]
    (record,) = caplog.records
    assert "foreign.ring" in record.getMessage()


def test_a_folder_with_a_rings_name_is_skipped_with_one_line(tmp_path, caplog):
    (tmp_path / "folder.ring").mkdir()
    folder = RingFolder(tmp_path)
    assert [names(folder), names(folder)] == [[], []]
    assert len(caplog.records) == 1


def test_a_ring_that_is_being_created_is_waited_for(tmp_path, instance, caplog):
    folder = RingFolder(tmp_path)
    path = tmp_path / "new.ring"
    path.touch()
    assert names(folder) == []
    assert not caplog.records
    path.unlink()
    writer = RingWriter(path, instance)
    assert names(folder) == ["new.ring"]
    writer.close()


def test_a_name_that_was_skipped_may_come_back_as_a_ring(tmp_path, instance):
    folder = RingFolder(tmp_path)
    path = tmp_path / "again.ring"
    path.touch()
    old(path)
    assert names(folder) == []
    path.unlink()
    assert names(folder) == []
    writer = RingWriter(path, instance)
    assert names(folder) == ["again.ring"]
    writer.close()
