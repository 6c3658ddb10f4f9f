"""What a model's syntax tree says of its `execute`, beside the calls of other models."""

from __future__ import annotations

import ast
from pathlib import Path

from tritonscope.repository.code.calls import batch_of, find_calls, goes_over
from tritonscope.repository.code.facts import Code
from tritonscope.repository.code.program import Function, Program, called

_DLPACK = {"to_dlpack", "from_dlpack", "__dlpack__", "fromDlpack", "toDlpack"}
_THREADS = {"ThreadPoolExecutor", "ProcessPoolExecutor", "Thread", "ThreadPool", "Process"}
# A tensor of PyTorch's to the CPU, an array of CuPy's to NumPy.
_FROM_GPU = {"cpu", "asnumpy"}
_LOOPS = ast.For | ast.AsyncFor | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def code_of(program: Program, path: Path) -> Code:
    """Return what `program`, whose entry is the file `path`, says of itself."""
    execute = _execute(program)
    names = {node.attr for node in program.nodes() if isinstance(node, ast.Attribute)}
    calls = {called(node) for node in program.nodes() if isinstance(node, ast.Call)}
    imports = _imports(program)
    return Code(
        path=path,
        execute_line=execute.lineno if execute else 0,
        is_async=isinstance(execute, ast.AsyncFunctionDef),
        loops_over_requests=_loops(program, execute),
        gathers=bool({"gather", "TaskGroup"} & calls),
        uses_threads=bool(_THREADS & calls or {"to_thread", "run_in_executor"} & calls),
        uses_response_sender="get_response_sender" in names,
        uses_as_numpy="as_numpy" in names,
        uses_dlpack=bool(_DLPACK & (names | calls)),
        uses_cupy="cupy" in imports,
        uses_torch="torch" in imports,
        copies_from_gpu=bool(_FROM_GPU & calls) and bool({"torch", "cupy"} & imports),
        auto_completes=_auto_completes(program),
        imports=imports,
        calls=find_calls(program, imports),
    )


def _execute(program: Program) -> Function | None:
    """Return the `execute` of TritonPythonModel, else that of another class: one that it may inherit from."""
    found = program.functions["execute"]
    own = [function for function in found if program.class_of(function) == "TritonPythonModel"]
    return next(iter([*own, *(function for function in found if program.class_of(function))]), None)


def _loops(program: Program, execute: Function | None) -> bool:
    """Tell whether `execute`, or a function that it hands its batch to, goes over the requests one by one."""
    if execute is None:
        return False
    places = [(execute, batch_of(execute))]
    for node in ast.walk(execute):
        if isinstance(node, ast.Call) and any(_is_name(argument, places[0][1]) for argument in node.args):
            places += [(function, "requests") for function in program.functions.get(called(node), ())]
    return any(
        isinstance(node, _LOOPS) and goes_over(node, batch)
        for function, batch in places
        for node in ast.walk(function)
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _imports(program: Program) -> frozenset[str]:
    found: set[str] = set()
    for node in program.nodes():
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _auto_completes(program: Program) -> tuple[str, ...]:
    """Return the settings that `auto_complete_config` sets, by the names of its `set_` and `add_` methods."""
    settings = {
        called(node).partition("_")[2]
        for function in program.functions["auto_complete_config"]
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and called(node).startswith(("set_", "add_"))
    }
    return tuple(sorted(settings))
