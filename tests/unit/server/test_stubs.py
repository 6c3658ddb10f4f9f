"""Stubs are found below their server, and those whose Python lacks tritonscope are named once."""

import sys

import pytest

from tritonscope.server import watch
from tritonscope.server.stubs import Stub, lacks_tritonscope, stubs_of
from tritonscope.server.watch import StubWatch


@pytest.fixture
def proc(tmp_path):
    """A /proc with a server (7), its shell (8), a stub below that (9), and a stub of another server (11)."""
    python = tmp_path / "env" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.touch()
    path = f"/nowhere:{python.parent}"
    add(tmp_path, 7, 1, "tritonserver")
    add(tmp_path, 8, 7, "bash")
    add(tmp_path, 9, 8, "/b/triton_python_backend_stub\0/models/decode/1/model.py\0shm", f"A=1\0PATH={path}")
    add(tmp_path, 11, 1, "/b/triton_python_backend_stub\0/models/other/1/model.py\0shm")
    (tmp_path / "self").mkdir()
    return tmp_path


def add(proc, pid, parent, command, environment=""):
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} (a) odd (name) S {parent} {pid} 0")
    (folder / "cmdline").write_bytes(command.encode())
    (folder / "environ").write_bytes(environment.encode())


def test_only_stubs_of_this_server_are_found(proc):
    assert stubs_of(7, proc) == [Stub(9, "decode", proc / "env" / "bin" / "python3")]


def test_a_stub_without_a_python_on_its_path_is_found_all_the_same(proc):
    assert stubs_of(1, proc)[-1] in {Stub(11, "other", None), Stub(9, "decode", proc / "env" / "bin" / "python3")}
    assert Stub(11, "other", None) in stubs_of(1, proc)


def test_a_process_that_ended_meanwhile_is_left_out(proc):
    (proc / "9" / "cmdline").unlink()
    assert stubs_of(7, proc) == []


def test_our_own_python_has_tritonscope(tmp_path):
    assert not lacks_tritonscope(sys.executable)
    assert not lacks_tritonscope(tmp_path / "none")


def test_each_model_is_named_once(proc, monkeypatch):
    python = proc / "env" / "bin" / "python3"
    found = [Stub(9, "decode", python), Stub(10, "decode", python), Stub(11, "label", python), Stub(12, "x", None)]
    monkeypatch.setattr(watch, "stubs_of", lambda _pid: found)
    monkeypatch.setattr(watch, "lacks_tritonscope", lambda _python: True)
    said = []
    watching = StubWatch(7, said.append)
    watching.look()
    watching.look()
    assert [line.split(" is not observed")[0] for line in said] == ["model decode", "model label"]
    assert str(proc / "env") in said[0]
