"""An overlay is the repository as it was, but for a few lines after each Python stage's own; or it is not there."""

import json
import runpy

import pytest

from tritonscope.errors import RepositoryError
from tritonscope.repository.overlay import FOOTER, MARKER, write_overlay

SOURCE = "# caf\xe9\nclass TritonPythonModel:\n    def execute(self, requests): return []".encode("latin-1")


@pytest.fixture
def repository(tmp_path):
    version = tmp_path / "models" / "decode" / "1"
    version.mkdir(parents=True)
    (version / "model.py").write_bytes(SOURCE)
    (version / "pixels.py").write_text("SIZE = 64\n")
    (version / "__pycache__").mkdir()
    (version.parent / "config.pbtxt").write_text('backend: "python"\n')
    (tmp_path / "models" / "classify" / "1").mkdir(parents=True)
    (tmp_path / "models" / "classify" / "1" / "model.onnx").write_bytes(b"weights")
    (tmp_path / "models" / "README.md").write_text("about\n")
    return tmp_path / "models"


ENTRIES = {"decode": "model.py"}


def test_only_the_entry_file_of_a_python_stage_differs(repository, tmp_path):
    overlay = write_overlay(repository, tmp_path / "out", ENTRIES)
    assert (overlay.observed, overlay.untouched) == (("decode",), ("classify",))
    out = tmp_path / "out"
    assert (out / "decode" / "1" / "model.py").read_bytes() == SOURCE + FOOTER.encode()
    for same in ("decode/1/pixels.py", "decode/config.pbtxt", "classify", "README.md"):
        assert (out / same).readlink() == repository / same
    assert not (out / "decode" / "1" / "__pycache__").exists()
    assert json.loads((out / MARKER).read_text())["observed"] == ["decode"]


def test_a_copy_stands_alone(repository, tmp_path):
    write_overlay(repository, tmp_path / "out", ENTRIES, copy=True)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_symlink()]
    assert (tmp_path / "out" / "classify" / "1" / "model.onnx").read_bytes() == b"weights"


def test_the_original_is_not_touched(repository, tmp_path):
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    write_overlay(repository, tmp_path / "out", ENTRIES)
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


def test_an_older_overlay_is_replaced_only_when_told_to(repository, tmp_path):
    write_overlay(repository, tmp_path / "out", ENTRIES)
    with pytest.raises(RepositoryError, match="--force"):
        write_overlay(repository, tmp_path / "out", ENTRIES)
    (repository / "decode" / "1" / "model.py").write_text("x = 1\n")
    write_overlay(repository, tmp_path / "out", ENTRIES, force=True)
    assert (tmp_path / "out" / "decode" / "1" / "model.py").read_text().startswith("x = 1\n")


def test_any_other_folder_is_never_replaced(repository, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").touch()
    with pytest.raises(RepositoryError, match="not an overlay"):
        write_overlay(repository, tmp_path / "out", ENTRIES, force=True)
    assert (tmp_path / "out" / "precious").exists()


def test_an_overlay_inside_of_its_repository_is_refused(repository):
    with pytest.raises(RepositoryError, match="lies in"):
        write_overlay(repository, repository / "observed", ENTRIES)


def test_what_cannot_be_written_leaves_nothing_behind(repository, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RepositoryError, match="cannot be written"):
        write_overlay(repository, tmp_path / "file" / "out", ENTRIES)


def test_the_footer_instruments_and_leaves_a_module_without_a_model_alone(tmp_path):
    (tmp_path / "observed.py").write_text(
        "class TritonPythonModel:\n    def execute(self, requests): return requests\n" + FOOTER
    )
    assert runpy.run_path(str(tmp_path / "observed.py"))["TritonPythonModel"].execute.__wrapped__
    (tmp_path / "plain.py").write_text("VALUE = 1\n" + FOOTER)
    assert "TritonPythonModel" not in runpy.run_path(str(tmp_path / "plain.py"))
