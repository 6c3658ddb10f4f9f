"""The cache folder is where the variables say, one process writes at a time, and pip's failures are explained."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope.errors import ServerError, SettingError, UnsupportedHostError
from tritonscope.server.cache import cache_directory, locked, pip_install

TAKES_THE_LOCK = """
import sys
from tritonscope.server.cache import locked
with locked("thing", lambda line: print(line, flush=True)):
    print("in", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TRITONSCOPE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/tritonscope")),
        ({"TRITONSCOPE_CACHE": ""}, Path.home() / ".cache/tritonscope"),
    ],
)
def test_folder_follows_the_variables(environ, expected):
    assert cache_directory(environ) == expected


def test_second_process_waits_for_the_first(tmp_path):
    environ = {**os.environ, "TRITONSCOPE_CACHE": str(tmp_path)}
    words = [sys.executable, "-c", TAKES_THE_LOCK]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen(words, env=environ, **pipes) as first,
        subprocess.Popen(words, env=environ, **pipes) as second,
    ):
        order = {first.stdout.readline(), second.stdout.readline()}
        assert order == {"in\n", "another process is installing thing: waiting for it\n"}
        for process in (first, second):
            process.stdin.write("\n")
            process.stdin.flush()
        assert first.wait() == second.wait() == 0


def test_folder_that_cannot_be_made_names_the_setting(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRITONSCOPE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(SettingError, match="TRITONSCOPE_CACHE"), locked("thing"):
        pass


def test_package_that_no_index_has_is_an_unsupported_host(tmp_path):
    with pytest.raises(UnsupportedHostError, match="no-such-package"):
        pip_install(Path(sys.executable), ["--no-index", "--target", str(tmp_path), "no-such-package"])


def test_other_failures_of_pip_carry_its_words(tmp_path):
    with pytest.raises(ServerError, match="no such option"):
        pip_install(Path(sys.executable), ["--no-such-option", "thing"])
