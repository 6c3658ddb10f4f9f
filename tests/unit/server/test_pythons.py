"""Pythons are believed only after they ran; what keeps one from carrying stubs is said with its fix."""

import json
import sys
from pathlib import Path

import pytest

from tritonscope.errors import UnsupportedHostError
from tritonscope.server import pythons
from tritonscope.server.pythons import Interpreter, available_pythons, find_python, probe

OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def fake(base: Path, full_version: str, *, shared: bool = True, venv: bool = True) -> Path:
    """A program that answers the probe as a Python of that version would."""
    version = full_version.rpartition(".")[0]
    executable = base / "bin" / f"python{version}"
    said = {
        "executable": str(executable), "base": str(base), "full_version": full_version, "libdir": str(base / "lib"),
        "multiarch": "x86_64-linux-gnu", "venv": venv, "pip": True,
    }  # fmt: skip
    (base / "lib").mkdir(parents=True, exist_ok=True)
    if shared:
        (base / "lib" / f"libpython{version}.so.1.0").touch()
    return script(executable, f"echo '{json.dumps(said)}'")


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Path:
    """A machine that has no Python but those which a test puts there."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    monkeypatch.setattr(pythons, "_SYSTEM_FOLDERS", ())
    return tmp_path


def environ(machine: Path, *folders: Path) -> dict[str, str]:
    return {"HOME": str(machine), "PATH": ":".join(map(str, folders))}


def test_a_real_python_says_what_it_is():
    found = probe(Path(sys.executable))
    assert found.version == OWN
    assert found.full_version == ".".join(map(str, sys.version_info[:3]))
    assert found.executable.exists()


def test_a_shim_that_does_not_run_is_no_python(tmp_path):
    assert probe(script(tmp_path / "python3.11", "echo 'pyenv: version not installed' >&2; exit 127")) is None
    assert probe(script(tmp_path / "python3.12", "echo hello")) is None
    assert probe(tmp_path / "missing") is None


def test_each_python_is_listed_once(machine):
    real = fake(machine / "real", "3.11.7")
    (machine / "links").mkdir()
    (machine / "links" / "python3.11").symlink_to(real)
    script(machine / "shims" / "python3.11", "exit 127")
    found = available_pythons(environ(machine, machine / "shims", machine / "links", machine / "real" / "bin"))
    assert [one.executable for one in found] == [real]


def test_pythons_of_pyenv_and_uv_are_found_without_a_path(machine):
    fake(machine / ".pyenv" / "versions" / "3.10.13", "3.10.13")
    fake(machine / ".local/share/uv/python" / "cpython-3.12.1-linux-x86_64-gnu", "3.12.1")
    assert {one.full_version for one in available_pythons(environ(machine))} == {"3.10.13", "3.12.1"}


def test_the_first_usable_one_is_taken(machine):
    fake(machine / "static", "3.11.1", shared=False)
    fake(machine / "bare", "3.11.2", venv=False)
    good = fake(machine / "good", "3.11.3")
    folders = [machine / name / "bin" for name in ("static", "bare", "good")]
    assert find_python("3.11", environ(machine, *folders)).executable == good


def test_without_a_wish_the_own_version_comes_first_then_the_newest(machine):
    folders = [fake(machine / version, f"{version}.1").parent for version in pythons.SUPPORTED]
    expected = OWN if OWN in pythons.SUPPORTED else pythons.SUPPORTED[-1]
    assert find_python(None, environ(machine, *folders)).version == expected


@pytest.mark.parametrize(
    ("options", "fix"),
    [({"shared": False}, "apt-get install libpython3.11"), ({"venv": False}, "apt-get install python3.11-venv")],
)
def test_what_is_missing_is_said_with_the_fix(machine, options, fix):
    folder = fake(machine / "one", "3.11.4", **options).parent
    with pytest.raises(UnsupportedHostError, match=fix):
        find_python("3.11", environ(machine, folder))


def test_no_python_at_all_is_said_with_the_fix(machine):
    with pytest.raises(UnsupportedHostError, match=r"uv python install 3\.10"):
        find_python("3.10", environ(machine))


@pytest.mark.parametrize("version", ["3.13", "3.9", "three"])
def test_other_versions_are_refused_with_the_reason(version):
    with pytest.raises(UnsupportedHostError, match="numpy below 2"):
        find_python(version)


def test_a_complete_python_has_no_problem():
    assert Interpreter(Path("/p"), "3.12", "3.12.1", Path("/l"), has_venv=True, has_pip=True).problem == ""
