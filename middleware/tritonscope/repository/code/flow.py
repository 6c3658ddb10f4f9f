"""Where a value goes in a model's code: through variables, containers, arguments and returns, to its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonscope.repository.code.program import Function, Program, called, parameters, position

_KEEPS = {"append", "add", "insert", "put", "put_nowait", "extend", "appendleft"}
# What gives back what it takes, or the elements of it.
_PASSES = {
    "list", "tuple", "set", "zip", "enumerate", "reversed", "sorted", "iter", "next", "create_task",
    "ensure_future", "wait_for", "shield", "pop", "popleft", "get", "values", "items", "result", "as_completed",
}  # fmt: skip
_HOLDS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.NamedExpr, ast.Await, ast.BoolOp,
          ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.keyword)  # fmt: skip


def carriers(program: Program, start: ast.expr) -> list[ast.expr]:
    """Return the expressions that may hold the value of `start`, itself first, in the order of its way."""
    found: dict[ast.AST, None] = {start: None}
    waiting: list[ast.AST] = [start]
    while waiting:
        node = waiting.pop(0)
        for carrier in _next(program, node):
            if carrier not in found:
                found[carrier] = None
                waiting.append(carrier)
    return [node for node in found if isinstance(node, ast.expr)]


def _next(program: Program, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that take what `node` holds, one step on."""
    parent = program.parent(node)
    for target in _targets(parent, node):
        yield from _uses(program, target, parent or node)
    if isinstance(parent, ast.Return):
        yield from _calls_of(program, parent)
    elif isinstance(parent, ast.Attribute) and parent.attr in _PASSES:
        yield from _if_called(program, parent)
    elif isinstance(parent, ast.Call):
        yield from _argument(program, node, parent)
    elif isinstance(parent, _HOLDS) or (isinstance(parent, ast.Subscript) and node is parent.value):
        yield parent


def _targets(parent: ast.AST | None, node: ast.AST) -> list[ast.expr]:
    """Return what `parent` gives the value of its part `node` to, or the elements of it."""
    if isinstance(parent, ast.Assign):
        return parent.targets
    if isinstance(parent, ast.AnnAssign | ast.NamedExpr):
        return [parent.target]
    loops = isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension) and node is parent.iter
    return [parent.target] if loops else []  # type: ignore[union-attr]


def _uses(program: Program, target: ast.expr, at: ast.AST) -> Iterator[ast.AST]:
    """Yield the uses of what `target` is given at `at`, up to where the same variable is given something else."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _uses(program, part, at)
    elif isinstance(target, ast.Subscript):
        yield from _held_by(program, target.value)
    elif isinstance(target, ast.Attribute):
        yield from (
            node for node in program.nodes()
            if isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load)
        )  # fmt: skip
    elif isinstance(target, ast.Name):
        begin, end = position(target), program.given_again(target)
        for load in program.loads(target.id, target):
            if begin <= position(load) < end or _encloses(program, at, load):
                yield load


def _encloses(program: Program, whole: ast.AST, node: ast.AST) -> bool:
    """Tell whether `node` is a part of `whole`'s statement or comprehension: there the order of words differs."""
    around = program.parent(whole) if isinstance(whole, ast.comprehension) else whole
    return any(each is around for each, _ in program.above(node))


def _held_by(program: Program, container: ast.expr) -> Iterator[ast.AST]:
    """Yield the uses of a container that was given something."""
    if isinstance(container, ast.Name):
        yield from program.loads(container.id, container)
    elif isinstance(container, ast.Attribute):
        yield from _uses(program, container, container)


def _calls_of(program: Program, statement: ast.AST) -> Iterator[ast.AST]:
    function = program.function_of(statement)
    for site in program.sites_of(function) if function else ():
        yield site.call


def _if_called(program: Program, attribute: ast.Attribute) -> Iterator[ast.AST]:
    call = program.parent(attribute)
    if isinstance(call, ast.Call) and call.func is attribute:
        yield call


def _argument(program: Program, node: ast.AST, call: ast.Call) -> Iterator[ast.AST]:
    """Yield where an argument goes: into a container, into a function of the program, or through a known one."""
    if node is call.func:
        return
    name = called(call)
    if name in _KEEPS and isinstance(call.func, ast.Attribute):
        yield from _held_by(program, call.func.value)
    for function in program.functions.get(name, ()):
        parameter = _parameter(function, node, call)
        if parameter:
            yield from (load for load in ast.walk(function) if _is_load(load, parameter))
    if name in _PASSES:
        yield call


def _parameter(function: Function, node: ast.AST, call: ast.Call) -> str:
    """Return the parameter that gets the argument `node`, "" if that is not to be seen."""
    names = list(parameters(function))
    if names and names[0] in {"self", "cls"}:
        names = names[1:]
    for keyword in call.keywords:
        if keyword.value is node or keyword is node:
            return keyword.arg or ""
    place = next((number for number, arg in enumerate(call.args) if arg is node), len(names))
    return names[place] if place < len(names) else ""


def _is_load(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
