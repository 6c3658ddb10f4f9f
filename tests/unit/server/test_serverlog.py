"""The log says in Triton's own words what went wrong; what every machine without a GPU prints is left out."""

import pytest

from tritonscope.server.serverlog import failure_reasons, port_was_taken, read_log, tail

# Of tritonserver 2.51.
HEAD = """\
W1201 10:39:13.890270 20343 pinned_memory_manager.cc:273] "Unable to allocate pinned system memory"
I1201 10:39:13.890341 20343 cuda_memory_manager.cc:117] "CUDA memory pool disabled"
E1201 10:39:13.890408 20343 server.cc:241] "CudaDriverHelper has not been initialized."
"""
INITIALIZE = HEAD + (
    r'E1201 10:39:15.502 20343 backend_model.cc:692] "ERROR: Failed to create instance: RuntimeError: no\nfile\n"'
    "\n"
    r"E1201 10:39:15.503 20343 model_lifecycle.cc:642] "
    r""""failed to load 'crash' version 1: Internal: RuntimeError: no\nfile\n\nAt:\n  /r/1/model.py(6): load\n" """
    "\nerror: creating server: Internal - failed to load all models\n"
)
CONFIG = (
    HEAD
    + """\
[libprotobuf ERROR /t/text_format.cc:337] Error parsing text-format inference.ModelConfig: 1:35: Expected integer
E1201 10:39:13.891 20343 model_repository_manager.cc:1460] "Poll failed for model directory 'nocfg': failed to read"
"""
)
PORT = (
    HEAD
    + """\
E1201 10:39:28.983 20686 chttp2_server.cc:1060] UNKNOWN:No address added out of total 1 resolved for '[::]:1'
E1201 10:39:28.987 20686 main.cc:245] "failed to start GRPC service: Unavailable - Socket '[::]:1' already in use "
"""
)


def test_failing_initialize_is_told_once_with_its_traceback():
    assert failure_reasons(INITIALIZE) == [
        "failed to load 'crash' version 1: Internal: RuntimeError: no\nfile\n\nAt:\n  /r/1/model.py(6): load",
        "creating server: Internal - failed to load all models",
    ]


def test_broken_configuration_is_told_with_its_place():
    reasons = failure_reasons(CONFIG)
    assert reasons[0] == "Error parsing text-format inference.ModelConfig: 1:35: Expected integer"
    assert "nocfg" in reasons[1]
    assert len(reasons) == 2


def test_taken_port_is_recognized():
    assert port_was_taken(PORT)
    assert failure_reasons(PORT) == ["failed to start GRPC service: Unavailable - Socket '[::]:1' already in use"]
    assert not port_was_taken(INITIALIZE)


def test_a_healthy_log_gives_no_reason():
    assert failure_reasons(HEAD) == []


def test_tail_leaves_out_tables(tmp_path):
    log = tmp_path / "log"
    log.write_text("first\n+----+\n| a  |\n+----+\n\nlast\n")
    assert tail(log, 2) == "first\nlast"
    assert tail(log, 1) == "last"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe broken \x00 bytes\nend\n", b"x" * 200_000 + b"\nend\n"])
def test_any_log_can_be_read(tmp_path, content):
    log = tmp_path / "log"
    log.write_bytes(content)
    assert read_log(log).endswith("end\n" if content else "")
    assert len(read_log(log)) <= 1 << 16


def test_no_log_reads_as_empty(tmp_path):
    assert read_log(tmp_path / "none") == ""
