"""A model's modules as one searchable program: what encloses what, what calls a function, what a name holds.

Names are looked up by what they are called, not by what Python would bind: good enough to find the names of models,
and it cannot be led into running anything.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Functions that run another one: the place of that one among their arguments. Its own arguments follow.
_RUNNERS = {"submit": 0, "map": 0, "to_thread": 0, "partial": 0, "run_in_executor": 1, "starmap": 0}
_THREADS = {"submit", "map", "to_thread", "run_in_executor", "starmap", "Thread"}


class File(NamedTuple):
    """A parsed module: its name as people know it, and its tree."""

    name: str
    tree: ast.Module


class Binding(NamedTuple):
    """What a name is given: a value, or `each` element of one; of one that is a tuple, a part."""

    value: ast.expr
    each: bool = False
    part: int | None = None


class Site(NamedTuple):
    """A call of one of the program's functions: the arguments that it gives, and whether another thread runs it."""

    call: ast.Call
    args: tuple[ast.expr, ...]
    keywords: dict[str, ast.expr]
    threaded: bool = False
    each: bool = False


class Program:
    """The modules in `files`, the entry first, indexed once."""

    def __init__(self, files: list[File]) -> None:
        self.files = files
        self.classes: set[str] = set()
        self.functions: dict[str, list[Function]] = defaultdict(list)
        self.sites: dict[str, list[Site]] = defaultdict(list)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._file_names: dict[ast.AST, str] = {}
        self._bindings: dict[tuple[ast.AST | str | None, str], list[Binding]] = defaultdict(list)
        self._loads: dict[tuple[ast.AST, str], list[ast.Name]] = defaultdict(list)
        self._stores: dict[tuple[ast.AST, str], list[ast.Name]] = defaultdict(list)
        for file in files:
            self._index(file)
        for node in self.nodes():
            self._learn(node)
        for loads in self._loads.values():
            loads.sort(key=position)

    def nodes(self) -> Iterator[ast.AST]:
        """Yield all nodes of all modules."""
        return iter(self._parents)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that `node` is a part of."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield each node around `node` with its part that holds it, from the inside to the outside."""
        part, whole = node, self._parents.get(node)
        while whole is not None:
            yield whole, part
            part, whole = whole, self._parents.get(whole)

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the function around `node`."""
        return next((whole for whole, _ in self.above(node) if isinstance(whole, Function)), None)

    def class_of(self, node: ast.AST) -> str:
        """Return the name of the class around `node`, "" if there is none."""
        return next((whole.name for whole, _ in self.above(node) if isinstance(whole, ast.ClassDef)), "")

    def file_of(self, node: ast.AST) -> str:
        """Return the name of the file that `node` is in."""
        top = node
        for whole, _ in self.above(node):
            top = whole
        return self._file_names.get(top, "")

    def bindings(self, name: str, at: ast.AST) -> list[Binding]:
        """Return what the variable `name` may hold at `at`: its function's, else an outer one's."""
        function = self.function_of(at)
        while function is not None:
            if found := self._bindings.get((function, name)):
                return found
            if name in parameters(function):
                return []
            function = self.function_of(function)
        return self._bindings.get((None, name), [])

    def attribute(self, name: str, class_name: str) -> list[Binding]:
        """Return what the attribute `name` of a class may hold: as the class itself sets it, else as others do.

        Others count since a class may inherit what it does not set.
        """
        return self._bindings.get((class_name, name)) or self._bindings.get(("", name), [])

    def module_variable(self, name: str, module: str) -> list[Binding]:
        """Return what the variable `name` of a module among the files may hold."""
        known = any(file.name == f"{module}.py" for file in self.files)
        return self._bindings.get((None, name), []) if known else []

    def loads(self, name: str, at: ast.AST) -> list[ast.Name]:
        """Return the uses of the variable `name` in the function around `at`, in the file's order."""
        return self._loads.get((self._scopes(at)[0], name), [])

    def given_again(self, target: ast.Name) -> tuple[float, int]:
        """Return the position by which the variable `target` was certainly given something else, infinity if never.

        What another branch of an `if` gives it does not count.
        """
        around = {target, *(whole for whole, _ in self.above(target))}
        ends = [
            (statement.end_lineno or 0, statement.end_col_offset or 0)
            for other in self._stores.get((self._scopes(target)[0], target.id), ())
            if position(other) > position(target)
            and (statement := self._statement(other)) is not None
            and any(beside in around for beside in self._block(statement))
        ]
        return min(ends, default=(math.inf, 0))

    def _statement(self, node: ast.AST) -> ast.stmt | None:
        return next((whole for whole, _ in self.above(node) if isinstance(whole, ast.stmt)), None)

    def _block(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements that `statement` stands among."""
        parent = self._parents.get(statement)
        blocks = [getattr(parent, field, None) for field in ("body", "orelse", "finalbody")]
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])

    def sites_of(self, function: Function) -> list[Site]:
        """Return the calls of a function, of an `__init__` those of its class."""
        sites = self.sites[function.name]
        return [*sites, *self.sites[self.class_of(function)]] if function.name == "__init__" else sites

    def parameter_owner(self, name: str, at: ast.AST) -> Function | None:
        """Return the function around `at` that has a parameter `name`."""
        function = self.function_of(at)
        while function is not None and name not in parameters(function):
            function = self.function_of(function)
        return function

    def _index(self, file: File) -> None:
        self._file_names[file.tree] = file.name
        waiting: list[ast.AST] = [file.tree]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                # Contexts and operators are single objects, shared by all trees.
                if not isinstance(child, ast.expr_context | ast.operator | ast.boolop | ast.unaryop | ast.cmpop):
                    self._parents[child] = node
                    waiting.append(child)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, Function):
            self.functions[node.name].append(node)
        elif isinstance(node, ast.ClassDef):
            self.classes.add(node.name)
        elif isinstance(node, ast.Call):
            self._learn_call(node)
        elif isinstance(node, ast.Name):
            self._learn_name(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, Binding(node.value))
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, Binding(node.value))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(node.target, Binding(node.iter, each=True))

    def _learn_name(self, name: ast.Name) -> None:
        if isinstance(name.ctx, ast.Store):
            self._stores[self._scopes(name)[0], name.id].append(name)
        elif isinstance(name.ctx, ast.Load):
            for scope in self._scopes(name):
                self._loads[scope, name.id].append(name)

    def _learn_call(self, call: ast.Call) -> None:
        name = called(call)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        self.sites[name].append(Site(call, tuple(call.args), keywords))
        threaded, at = name in _THREADS, _RUNNERS.get(name)
        if at is not None and len(call.args) > at:
            self._learn_reference(call, call.args[at], call.args[at + 1 :], keywords, threaded=threaded)
        if name == "Thread" and "target" in keywords:
            args = keywords.get("args")
            given = args.elts if isinstance(args, ast.Tuple | ast.List) else []
            self._learn_reference(call, keywords["target"], given, {}, threaded=True)

    def _learn_reference(
        self,
        call: ast.Call,
        function: ast.expr,
        args: list[ast.expr],
        keywords: dict[str, ast.expr],
        *,
        threaded: bool,
    ) -> None:
        name = last_name(function)
        if name:
            each = called(call) in {"map", "starmap"}
            self.sites[name].append(Site(call, tuple(args), keywords, threaded, each))

    def _bind(self, target: ast.expr, binding: Binding) -> None:
        if isinstance(target, ast.Name):
            owner = self._owner(target)
            self._bindings[owner, target.id].append(binding)
            if isinstance(owner, str):  # a class's attribute
                self._bindings["", target.id].append(binding)
        elif isinstance(target, ast.Attribute):
            for class_name in (self.class_of(target), ""):
                self._bindings[class_name, target.attr].append(binding)
        elif isinstance(target, ast.Tuple | ast.List):
            self._bind_parts(target, binding)

    def _bind_parts(self, target: ast.Tuple | ast.List, binding: Binding) -> None:
        value = binding.value
        for number, part in enumerate(target.elts):
            if not binding.each and isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                self._bind(part, Binding(value.elts[number]))
            elif binding.part is None:
                self._bind(part, binding._replace(part=number))

    def _owner(self, target: ast.Name) -> ast.AST | str | None:
        """Return whose a name is: a function's, a class's (then it is an attribute), or None: a module's."""
        for whole, _ in self.above(target):
            if isinstance(whole, Function):
                return whole
            if isinstance(whole, ast.ClassDef):
                return whole.name
        return None

    def _scopes(self, node: ast.AST) -> list[ast.AST]:
        """Return the functions around `node`, from the inside to the outside, and its module."""
        around = [whole for whole, _ in self.above(node)]
        return [whole for whole in around if isinstance(whole, Function)] + around[-1:]


def position(node: ast.expr) -> tuple[int, int]:
    """Return where an expression begins in its file: line and column."""
    return node.lineno, node.col_offset


def called(call: ast.Call) -> str:
    """Return the last name of what is called, as `f` in `a.b.f()`."""
    return last_name(call.func)


def last_name(node: ast.expr) -> str:
    """Return `c` of the expression `a.b.c`, "" of one that is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parameters(function: Function) -> dict[str, ast.expr | None]:
    """Return the parameters of a function with their defaults, `self` included, in their order."""
    its = function.args
    plain = [*its.posonlyargs, *its.args]
    defaults = [None] * (len(plain) - len(its.defaults)) + list(its.defaults)
    named = zip(its.kwonlyargs, its.kw_defaults, strict=True)
    return {
        **{parameter.arg: default for parameter, default in zip(plain, defaults, strict=True)},
        **{parameter.arg: default for parameter, default in named},
    }


def given(function: Function, site: Site, name: str) -> ast.expr | None:
    """Return what a call gives for a parameter, its default if it gives nothing, None if that is not to be seen."""
    if name in site.keywords:
        return site.keywords[name]
    names = list(parameters(function))
    if names and names[0] in {"self", "cls"}:
        names = names[1:]
    place = names.index(name) if name in names else len(names)
    if place < len(site.args) and not any(isinstance(arg, ast.Starred) for arg in site.args[: place + 1]):
        return site.args[place]
    return parameters(function).get(name)


def loops_around(program: Program, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the loops and comprehensions that may run `node` more than once, as the expressions or statements."""
    for whole, part in program.above(node):
        if isinstance(whole, Function):
            return
        if (
            (isinstance(whole, ast.While))
            or (isinstance(whole, ast.For | ast.AsyncFor) and part is not whole.iter)
            or (isinstance(whole, _COMPREHENSIONS) and part is not whole.generators[0])
        ):
            yield whole
