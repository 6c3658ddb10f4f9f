"""What a user gets wrong is answered with one clear line and exit code 2."""

import shutil
from pathlib import Path

import pytest

from tritonscope.cli import main

EXAMPLE = Path(__file__).parents[3] / "model_repository"


@pytest.fixture
def broken(tmp_path):
    """A copy of the example to break."""
    shutil.copytree(EXAMPLE, tmp_path / "models")
    return tmp_path / "models"


@pytest.fixture
def fails(capsys):
    """Run a command that must fail; return the one line that it says."""

    def run(*words):
        assert main([str(word) for word in words]) == 2
        captured = capsys.readouterr()
        (line,) = captured.err.strip().splitlines()
        assert line.startswith("tritonscope: ")
        return line

    return run


@pytest.mark.parametrize("command", [("analyze", "--repository"), ("wrap", "-o", "out"), ("server", "start")])
def test_a_repository_that_does_not_exist(fails, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert f"no model repository {tmp_path / 'nowhere'}" in fails(*command, tmp_path / "nowhere")


def test_a_step_whose_model_is_missing(fails, broken):
    shutil.rmtree(broken / "classify")
    line = fails("analyze", "--repository", broken)
    assert "ensemble 'image_pipeline', step 2: model 'classify' is not in" in line
    assert "'decode', 'label'" in line


def test_a_configuration_that_does_not_parse(fails, broken):
    config = broken / "image_pipeline" / "config.pbtxt"
    config.write_text('name: "image_pipeline"\nmax_batch: 8\n')
    assert f"{config}:2:1: " in fails("analyze", "--repository", broken, "--model", "image_pipeline")


def test_a_server_that_is_not_there(fails):
    assert "http://127.0.0.1:9" in fails("analyze", "--url", "127.0.0.1:9")


def test_a_ring_folder_that_cannot_be_written(fails, tmp_path):
    (tmp_path / "file").touch()
    line = fails("run", "--dir", tmp_path / "file" / "rings", "--", "true")
    assert str(tmp_path / "file" / "rings") in line
    assert "--dir" in line


def test_the_demo_says_that_shared_memory_cannot_be_written(fails, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRITONSCOPE_DIR", str(tmp_path / "file" / "shm" / "rings"))
    monkeypatch.chdir(tmp_path)
    assert "cannot be written" in fails("demo")


def test_a_command_that_does_not_exist(fails):
    assert "there is no command 'annalyze'" in fails("annalyze")
    assert "no command 'tritonsever' on PATH" in fails("run", "--", "tritonsever")


def test_a_run_file_that_is_none(fails, tmp_path):
    (tmp_path / "notes.txt").write_text("hello\n")
    assert "not a run file" in fails("analyze", tmp_path / "notes.txt")
    assert "cannot be read" in fails("analyze", tmp_path / "missing.jsonl")


@pytest.mark.parametrize("name", ["demo", "run", "wrap", "analyze", "agent", "load", "server"])
def test_help_teaches_by_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"tritonscope {name} " in capsys.readouterr().out.split("xamples:")[1]
