"""Models with a Python environment of their own, as a folder and as an archive in conda-pack's layout.

With tritonscope in it such a model is observed like any other; without, it runs as ever and one line says why it is
not observed.
"""

import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import httpx
import pytest

from tritonscope.ring.reader import RingReader
from tritonscope.server.environment import ensure_environment
from tritonscope.server.process import TritonServer

pytestmark = pytest.mark.server

# What conda-pack writes: it finds out where it was unpacked.
ACTIVATE = """
export CONDA_PREFIX="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export PATH="$CONDA_PREFIX/bin:$PATH"
"""
PARAMETER = """
parameters: {{ key: "EXECUTION_ENV_PATH", value: {{ string_value: "{path}" }} }}
"""
NEVER_NEEDED = shutil.ignore_patterns(
    "test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "pydoc_data", "__pycache__", "site-packages",
    "config-3*", "*.a",
)  # fmt: skip
MODELS = ("in_a_folder", "in_an_archive", "without_us")


@pytest.fixture(scope="module")
def stub_python(triton_pythons):
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return triton_pythons.get(own) or next(iter(triton_pythons.values()))


def standard_library(interpreter) -> Path:
    ask = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    return Path(subprocess.check_output([interpreter.executable, "-I", "-c", ask], text=True).strip())


def pack(folder: Path, interpreter, packages: Path, *, with_us: bool) -> Path:
    """Make a whole Python in `folder`, as conda-pack would unpack it; return it."""
    name = f"python{interpreter.version}"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "activate").write_text(ACTIVATE)
    shutil.copy2(interpreter.executable.resolve(), folder / "bin" / "python3")
    shutil.copytree(standard_library(interpreter), folder / "lib" / name, ignore=NEVER_NEEDED)
    shutil.copy2(interpreter.libpython, folder / "lib" / interpreter.libpython.name)
    site = folder / "lib" / name / "site-packages"
    site.mkdir()
    ours = ("msgspec*", "tritonscope*") if with_us else ()
    for pattern in ("numpy*", *ours):
        for found in packages.glob(pattern):
            copy = shutil.copytree if found.is_dir() else shutil.copy2
            copy(found, site / found.name)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory, stub_python, write_add_one):
    folder = tmp_path_factory.mktemp("environments")
    packages = ensure_environment(stub_python).site_packages
    ours = pack(folder / "ours", stub_python, packages, with_us=True)
    bare = pack(folder / "bare", stub_python, packages, with_us=False)
    with tarfile.open(folder / "ours.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(ours, arcname=".")
    models = folder / "models"
    for name, place in zip(MODELS, (ours, folder / "ours.tar.gz", bare), strict=True):
        write_add_one(models, name, config=PARAMETER.format(path=place))
    return models


def test_models_with_environments_of_their_own(repository, stub_python, tmp_path):
    rings = tmp_path / "rings"
    run = (sys.executable, "-m", "tritonscope", "run", "--no-agent", "--dir", str(rings), "--")
    log = tmp_path / "log"
    with TritonServer(repository, python=stub_python.version, command_prefix=run, log_path=log) as server:
        for name in MODELS:
            body = {"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]}
            answer = httpx.post(f"http://{server.http_url}/v2/models/{name}/infer", json=body)
            assert answer.json()["outputs"][0]["data"] == [2, 3, 4, 5], name
        line = wait_for(log, "is not observed")
    assert "without_us" in line
    assert str(repository.parent / "bare") in line
    assert log.read_text().count("is not observed") == 1
    assert {RingReader(path).instance.model for path in rings.glob("*.ring")} == set(MODELS[:2])


def wait_for(log: Path, words: str, attempts: int = 300) -> str:
    """Return the line of the log that holds `words`, as soon as it is there."""
    for _ in range(attempts):
        lines = [line for line in log.read_text(errors="replace").splitlines() if words in line]
        if lines:
            return lines[0]
        time.sleep(0.1)
    raise AssertionError(f"no line with {words!r} in the log")
