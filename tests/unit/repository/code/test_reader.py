"""Reading code that is broken, odd or hostile: an error with its place, or facts; never a run, crash or hang."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.errors import RepositoryError
from tritonscope.repository.code.execute import code_of
from tritonscope.repository.code.program import File, Program
from tritonscope.repository.code.reader import read_code


def write(tmp_path, data):
    path = tmp_path / "model.py"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nprint 'hello'\n", r"model\.py:2:1: this is not Python 3\.\d+: "),
        ("def execute(self, requests:\n", r"model\.py:1:\d+: "),
        (b"x = '\xff'\n", r"model\.py:1:\d+: .*utf-?8"),
        (b"x\0y", r"model\.py"),
        ("x = " + "(" * 5000, r"model\.py"),
    ],
)
def test_what_is_no_python_says_where(tmp_path, source, message):
    path = write(tmp_path, source)
    with pytest.raises(RepositoryError, match=message):
        read_code(path)


@pytest.mark.parametrize("terms", [100, 900, 3_000, 50_000])
def test_what_is_nested_deeply_is_read_or_refused(tmp_path, terms):
    """How deep an interpreter goes differs by version."""
    path = write(tmp_path, f"x = {'+'.join(['MODEL'] * terms)}\nInferenceRequest(model_name=x)\n")
    try:
        assert len(read_code(path).calls) == 1
    except RepositoryError as error:
        assert str(path) in str(error)  # noqa: PT017 - code of both kinds is tried


def test_a_file_that_is_not_there_or_too_large_is_an_error(tmp_path):
    with pytest.raises(RepositoryError, match="cannot be read"):
        read_code(tmp_path / "model.py")
    with pytest.raises(RepositoryError, match="too many"):
        read_code(write(tmp_path, b"#" * 2_000_001))


def test_the_file_s_own_encoding_counts(tmp_path):
    source = "# -*- coding: gbk -*-\nNAME = '编码器'\nInferenceRequest(model_name=NAME).exec()\n"
    (call,) = read_code(write(tmp_path, source.encode("gbk"))).calls
    assert str(call.names[0]) == "'编码器'"


def test_code_is_never_run(tmp_path):
    evidence = tmp_path / "evidence"
    read_code(write(tmp_path, f"open({str(evidence)!r}, 'w')\nclass TritonPythonModel: pass\n"))
    assert not evidence.exists()


def test_warnings_of_the_user_s_escapes_stay_away(tmp_path):
    assert read_code(write(tmp_path, r"PATTERN = '\d'")).calls == ()


def test_a_broken_module_beside_is_left_out(tmp_path):
    (tmp_path / "beside.py").write_text("def (")
    assert read_code(write(tmp_path, "import beside\nimport torch\n")).imports == {"beside", "torch"}


def test_modules_that_import_each_other_end(tmp_path):
    (tmp_path / "a.py").write_text("from model import x\nimport a\n")
    assert read_code(write(tmp_path, "import a\nx = 1\n")).imports == {"a", "model"}


KNOTS = {
    "variables in a circle": "a = b\nb = c\nc = a\n",
    "pairs of variables": "".join(f"a{n} = a{n + 1} if x else a{n + 1}\na{n} = a{n + 1}\n" for n in range(60)),
    "lists of lists": "".join(f"a{n} = list(a{n + 1})\na{n} = sorted(a{n + 1})\n" for n in range(60)),
    "functions that call each other twice": "".join(
        f"def a{n}(x):\n    return a{n + 1}(x) + a{n + 1}(x)\n" for n in range(60)
    ),
    "a function of itself": "def f(x):\n    return f(f(x))\na0 = f(f('m'))\n",
    "sums of many choices": "p = 'a' if x else 'b'\na0 = " + " + ".join(["p"] * 40) + "\n",
}


@pytest.mark.parametrize("knot", KNOTS.values(), ids=KNOTS)
def test_knots_of_names_end(tmp_path, knot):
    """As many steps as the nodes, not the powers of two: without that, each of these outlasts the universe."""
    calls = "for each in a0:\n    InferenceRequest(model_name=each).exec()\nInferenceRequest(model_name=a0(a0))\n"
    source = f"{knot}\n{calls}"
    assert len(read_code(write(tmp_path, source)).calls) == 2


LINES = st.lists(
    st.sampled_from([
        "class TritonPythonModel:", "    async def execute(self, requests):", "    def ask(self, name='m', *more):",
        "for request in requests:", "while True:", "if x:", "else:", "with y as z:", "try:", "finally:",
        "r = pb.InferenceRequest(model_name=name)", "name = self.name", "self.name = name", "name, r = r, name",
        "r = [r.async_exec() for r in rs]", "await asyncio.gather(*r)", "rs.append(r)", "return r",
        "r = self.ask(r)",
        "yield r", "pool.submit(self.ask, r)", "lambda r: r.exec()", "r = {name: r}", "name = r[name]", "import x",
        "name = f'{name}_{r}'", "name = P[name]['string_value']", "del r", "global r", "r: str = name", "r += r",
        "def execute(requests, /, *, a=1): return requests", "(r := r.exec(decoupled=r))", "@r", "pass",
    ]),
    max_size=14,
)  # fmt: skip


@given(LINES, st.lists(st.integers(0, 4), min_size=14, max_size=14))
def test_whatever_parses_is_read(tmp_path_factory, lines, depths):
    source = "\n".join("    " * depth + line for line, depth in zip(lines, depths, strict=False))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    code = code_of(Program([File("model.py", tree)]), tmp_path_factory.getbasetemp() / "model.py")
    assert all(call.names for call in code.calls)
