"""What tests with a real server share: the Pythons they can run on, a server on demand, a smallest model."""

from pathlib import Path

import pytest

from tritonscope.errors import UnsupportedHostError
from tritonscope.server.install import check_host
from tritonscope.server.process import TritonServer
from tritonscope.server.pythons import SUPPORTED, Interpreter, find_python

MODEL = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("Y", pb_utils.get_input_tensor_by_name(request, "X").as_numpy() + np.float32(1))]
            )
            for request in requests
        ]
"""
CONFIG = """
backend: "python"
max_batch_size: 8
input [{ name: "X" data_type: TYPE_FP32 dims: [4] }]
output [{ name: "Y" data_type: TYPE_FP32 dims: [4] }]
instance_group [{ kind: KIND_CPU count: 1 }]
"""


def write_model(
    repository: Path, name: str = "add1", *, model: str = MODEL, config: str = "dynamic_batching {}"
) -> Path:
    """Add a model to `repository` and return the repository; by default one that adds 1 to four floats."""
    version = repository / name / "1"
    version.mkdir(parents=True)
    (version / "model.py").write_text(model)
    (version.parent / "config.pbtxt").write_text(CONFIG + config)
    return repository


@pytest.fixture(scope="session")
def write_add_one():
    """The function `write_add_one(repository, name="add1", model=..., config=...)`."""
    return write_model


@pytest.fixture(scope="session")
def add_one_repository(tmp_path_factory) -> Path:
    return write_model(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="session")
def triton_pythons() -> dict[str, Interpreter]:
    """The usable Pythons by version; skips if this machine can run no server at all."""
    try:
        check_host()
    except UnsupportedHostError as error:
        pytest.skip(str(error))
    usable = {version: found for version in SUPPORTED if (found := usable_python(version))}
    if not usable:
        pytest.skip(f"no Python {', '.join(SUPPORTED)} on this machine that stubs can run on")
    return usable


def usable_python(version: str) -> Interpreter | None:
    try:
        return find_python(version)
    except UnsupportedHostError:
        return None


@pytest.fixture(scope="session", params=SUPPORTED)
def triton_python(request, triton_pythons) -> str:
    """Each version that stages can run on; those that are not on this machine are skipped by name."""
    if request.param not in triton_pythons:
        pytest.skip(f"no Python {request.param} on this machine that stubs can run on")
    return request.param


@pytest.fixture(scope="session")
def serve(triton_pythons):
    """The function `serve(repository, **options)`: a TritonServer to use in `with`."""

    def make(repository: Path, **options) -> TritonServer:
        return TritonServer(repository, **options)

    return make
