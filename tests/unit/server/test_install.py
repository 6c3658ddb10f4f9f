"""The packaged server is offered only where it can run, and counts as installed only when it is whole."""

from pathlib import Path

import pytest

from tritonscope.errors import UnsupportedHostError
from tritonscope.server.install import backend_directory, check_host, ensure_installed, installed


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TRITONSCOPE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def server(cache) -> Path:
    """Files where the wheel puts them."""
    root = cache / "triton-2.51" / "pytriton" / "tritonserver"
    names = [
        "bin/tritonserver", "backends/python/libtriton_python.so", "backends/python/triton_python_backend_utils.py",
        *(f"python_backend_stubs/{version}/triton_python_backend_stub" for version in ("3.11", "3.12")),
    ]  # fmt: skip
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def test_this_kind_of_machine_is_supported():
    check_host("linux", "x86_64", ("glibc", "2.35"))
    check_host("linux", "x86_64", ("glibc", "2.41"))


@pytest.mark.parametrize(
    ("system", "machine", "libc", "named"),
    [
        ("darwin", "arm64", ("", ""), "darwin on arm64"),
        ("linux", "aarch64", ("glibc", "2.39"), "linux on aarch64"),
        ("linux", "x86_64", ("glibc", "2.31"), "glibc 2.31"),
        ("linux", "x86_64", ("", ""), "another C library"),
    ],
)
def test_others_are_refused_with_a_way_out(system, machine, libc, named):
    with pytest.raises(UnsupportedHostError, match="tritonscope run") as caught:
        check_host(system, machine, libc)
    assert named in str(caught.value)


def test_nothing_is_installed_in_an_empty_cache(cache):
    assert installed() is None


def test_download_that_fails_leaves_nothing_that_counts(cache, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lines = []
    with pytest.raises(UnsupportedHostError, match="nvidia-pytriton"):
        ensure_installed(lines.append)
    assert "55 MB" in lines[0]
    assert installed() is None
    assert [path for path in cache.iterdir() if not path.name.endswith(".lock")] == []


def test_whole_server_is_found_and_not_fetched_again(server):
    assert ensure_installed(pytest.fail).executable == server / "bin/tritonserver"


def test_backend_folder_has_the_stub_of_its_python(server):
    for version in ("3.11", "3.12", "3.11"):
        folder = backend_directory(installed(), version) / "python"
        assert (folder / "triton_python_backend_stub").read_text().split("/")[1] == version
        assert (folder / "libtriton_python.so").is_file()
        assert (folder / "triton_python_backend_utils.py").is_file()
