"""An instance knows its name from `initialize`, or from the command line that tritonserver gave its stub."""

import os

from tests.unit.runtime.fakes import ARGS
from tritonscope.runtime.identity import _from_command_line, identify


def test_the_arguments_of_initialize_name_the_instance():
    instance = identify(ARGS)
    assert (instance.model, instance.instance, instance.kind, instance.pid) == (
        "decode", "decode_0_0", "CPU", os.getpid(),
    )  # fmt: skip


def test_each_instance_has_a_seed_of_its_own():
    assert identify(ARGS).span_seed != identify(ARGS).span_seed


def test_the_stubs_command_line_names_it_where_there_is_no_initialize(tmp_path):
    words = [
        "/backends/triton_python_backend_stub",
        "/models/decode/3/model.py",
        "shm",
        "1048576",
        "1048576",
        "7",
        "/backends",
        "ipc",
        "decode_0_1",
    ]
    (tmp_path / "cmdline").write_bytes("\0".join(words).encode() + b"\0")
    assert _from_command_line(tmp_path / "cmdline") == {
        "model_name": "decode", "model_version": "3", "model_repository": "/models/decode",
        "model_instance_name": "decode_0_1",
    }  # fmt: skip


def test_another_programs_command_line_names_nothing(tmp_path):
    words = ["python", "-m", "pytest", *(f"tests/test_{number}.py" for number in range(9))]
    (tmp_path / "cmdline").write_bytes("\0".join(words).encode() + b"\0")
    assert _from_command_line(tmp_path / "cmdline") == {}
