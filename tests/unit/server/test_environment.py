"""Stubs get an environment of their own in which the runtime half can be imported and nothing else of ours can."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tritonscope
from tritonscope.server.environment import ensure_environment, environment_for
from tritonscope.server.pythons import probe

PACKAGE = Path(tritonscope.__file__).parent


@pytest.fixture(scope="module")
def interpreter():
    return probe(Path(sys.executable))


@pytest.fixture(scope="module")
def built(interpreter, tmp_path_factory):
    """An environment without requirements: made by the real venv, and without a network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITONSCOPE_CACHE", str(tmp_path_factory.mktemp("cache")))
        lines = []
        environment = ensure_environment(interpreter, (), progress=lines.append)
        assert len(lines) == 1
        yield environment


def run(environment, code):
    done = subprocess.run([environment.python, "-I", "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_package_is_ours_and_our_dependencies_are_not_seen(built):
    code = (
        "import importlib.util as u, json, tritonscope\n"
        "print(json.dumps([tritonscope.__version__, [n for n in ('numpy', 'pytest') if u.find_spec(n)]]))"
    )
    assert run(built, code) == [tritonscope.__version__, []]


def test_the_hook_is_asleep_there_until_it_is_woken(built):
    assert (built.site_packages / "tritonscope.pth").read_text() == (
        PACKAGE / "runtime/tritonscope.pth"
    ).read_text()
    assert run(built, "import json, sys; print(json.dumps('tritonscope' in sys.modules))") is False


def test_a_second_call_builds_nothing(built, interpreter):
    assert ensure_environment(interpreter, (), progress=pytest.fail) == built


def test_a_package_that_moved_is_linked_anew(built, interpreter, tmp_path):
    link = built.site_packages / "tritonscope"
    link.unlink()
    link.symlink_to(tmp_path)
    (built.site_packages / "tritonscope.pth").write_text("import os\n")
    ensure_environment(interpreter, ())
    assert link.resolve() == PACKAGE.resolve()
    assert (built.site_packages / "tritonscope.pth").read_text() == (
        PACKAGE / "runtime/tritonscope.pth"
    ).read_text()


def test_another_list_or_another_python_is_another_environment(interpreter):
    roots = {
        environment_for(interpreter, ("numpy<2", "pillow")).root,
        environment_for(interpreter, ("pillow", "numpy<2")).root,
        environment_for(interpreter, ("numpy<2",)).root,
        environment_for(interpreter._replace(full_version="3.11.99"), ("numpy<2",)).root,
    }
    assert len(roots) == 3


def test_one_that_was_not_finished_is_not_complete(built):
    assert built.complete
    stamp = built.root / "tritonscope.json"
    content = stamp.read_text()
    stamp.unlink()
    assert not built.complete
    stamp.write_text(content)
