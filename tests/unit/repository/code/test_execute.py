"""What the syntax tree tells of `execute` itself."""

import pytest

from tritonscope.repository.code.reader import read_code


def read(tmp_path, source):
    path = tmp_path / "models" / "m" / "1" / "model.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return read_code(path)


MODEL = """
import torch
import triton_python_backend_utils as pb_utils
from torch.utils.dlpack import to_dlpack

class Preprocessor:
    def execute(self, data):
        return data

class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.set_max_batch_size(8)
        config.set_dynamic_batching()
        config.add_input({})
        return config

    async def execute(self, requests):
        sender = requests[0].get_response_sender()
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            y = pb_utils.Tensor.from_dlpack("Y", to_dlpack(torch.tensor(x).cuda().cpu()))
"""


def test_what_a_model_uses_is_told(tmp_path):
    code = read(tmp_path, MODEL)
    assert (code.execute_line, code.is_async, code.loops_over_requests) == (18, True, True)
    assert (code.uses_as_numpy, code.uses_dlpack, code.uses_torch, code.copies_from_gpu) == (True, True, True, True)
    assert (code.uses_response_sender, code.uses_cupy, code.uses_threads, code.gathers) == (
        True,
        False,
        False,
        False,
    )
    assert code.auto_completes == ("dynamic_batching", "input", "max_batch_size")
    assert code.imports == {"torch", "triton_python_backend_utils"}
    assert code.calls == ()


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        ("return [self.one(request) for request in requests]", True),
        ("return [self.one(a) for a, b in zip(requests, self.more)]", True),
        ("return self.all(requests)", True),
        ("return self.stack(requests)", False),
        ("return self.one(requests[0])", False),
        ("for number in range(3): pass", False),
    ],
)
def test_a_loop_over_the_batch_is_found_in_execute_and_one_call_away(tmp_path, body, loops):
    code = read(
        tmp_path,
        "class TritonPythonModel:\n"
        f"    def execute(self, requests):\n        {body}\n"
        "    def all(self, requests):\n        return [self.one(request) for request in requests]\n"
        "    def stack(self, requests):\n        return self.one(requests)\n"
        "    def one(self, request):\n        return request\n",
    )
    assert code.loops_over_requests is loops


def test_an_execute_may_be_inherited_from_a_module_beside(tmp_path):
    source = "from base import Base\nclass TritonPythonModel(Base):\n    pass\n"
    version = tmp_path / "models" / "m" / "1"
    version.mkdir(parents=True)
    (version / "base.py").write_text(
        "import cupy\nclass Base:\n    def execute(self, requests):\n        return None\n"
    )
    code = read(tmp_path, source)
    assert (code.execute_line, code.uses_cupy) == (3, True)


def test_a_model_without_execute_is_told_as_such(tmp_path):
    assert read(tmp_path, "VALUE = 1").execute_line == 0
