"""Finds where a model's code asks other models, by whose name, and how it waits for the answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonscope.repository.code.facts import Call, CalleeName, Origin, Waiting
from tritonscope.repository.code.flow import carriers
from tritonscope.repository.code.names import Evaluator
from tritonscope.repository.code.program import Function, Program, called, loops_around, parameters, position

_EXEC = {"exec", "async_exec"}
# Methods of tritonclient's InferenceServerClient that ask a model.
_CLIENT = {"infer", "async_infer", "stream_infer", "async_stream_infer"}
_MODEL_NAME_AT = 4  # among the positional arguments of InferenceRequest
_TOGETHER = {"gather", "wait", "as_completed", "start_soon", "gather_with_concurrency"}


def find_calls(program: Program, imports: frozenset[str]) -> tuple[Call, ...]:
    """Return the calls of other models in `program`, in the order of its files and lines."""
    finder = _Finder(program)
    found = [finder.request(node) for node in _named(program, {"InferenceRequest"})]
    if "tritonclient" in imports:
        found += [
            finder.by_client(node) for node in _named(program, _CLIENT) if isinstance(node.func, ast.Attribute)
        ]
    order = [file.name for file in program.files]
    return tuple(sorted(found, key=lambda call: (order.index(call.file), call.line)))


def _named(program: Program, names: set[str]) -> Iterator[ast.Call]:
    return (node for node in program.nodes() if isinstance(node, ast.Call) and called(node) in names)


class _Finder:
    """Describes the calls of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names = Evaluator(program)
        used = {node.attr for node in program.nodes() if isinstance(node, ast.Attribute)} & _EXEC
        # Where a request's own `exec` is not to be found: all that there is.
        self._only = next(iter(used)) if len(used) == 1 else ""

    def request(self, node: ast.Call) -> Call:
        """Describe the BLS request that `node` makes."""
        uses = self._uses(node)
        kind = uses[0].attr if uses else self._only
        asked = [
            call for use in uses if isinstance(call := self._program.parent(use), ast.Call) and call.func is use
        ]
        waiting = self._waiting(kind, uses, asked)
        name = _argument(node, "model_name", _MODEL_NAME_AT)
        return self._call(node, name, waiting, uses)._replace(decoupled=_decoupled(asked))

    def by_client(self, node: ast.Call) -> Call:
        """Describe the request that `node` makes through a client of the server."""
        if called(node) == "infer":
            waiting = Waiting.SERIAL if _awaited(self._program, node) else self._blocking(node)
        else:
            waiting = Waiting.UNKNOWN
        return self._call(node, _argument(node, "model_name", 0), waiting, [])._replace(by_client=True)

    def _call(self, node: ast.Call, name: ast.expr | None, waiting: Waiting, uses: list[ast.Attribute]) -> Call:
        function = self._program.function_of(node)
        loops = [loop for place in (node, *uses) for loop in self._loops(place)]
        of_batch = [self._is_of_batch(loop) for loop in loops]
        return Call(
            names=self._names.names(name) if name is not None else (CalleeName(Origin.UNKNOWN, "none is given"),),
            file=self._program.file_of(node),
            line=node.lineno,
            function=function.name if function else "",
            waiting=waiting,
            per_request=any(of_batch),
            repeated=not all(of_batch),
        )

    def _uses(self, node: ast.Call) -> list[ast.Attribute]:
        """Return the `.exec` and `.async_exec` of the request that `node` makes."""
        held = carriers(self._program, node)
        attributes = (self._program.parent(each) for each in held)
        return [each for each in attributes if isinstance(each, ast.Attribute) and each.attr in _EXEC]

    def _waiting(self, kind: str, uses: list[ast.Attribute], asked: list[ast.Call]) -> Waiting:
        if kind == "async_exec":
            return self._awaiting(asked[0]) if asked else Waiting.UNKNOWN
        if kind != "exec":
            return Waiting.UNKNOWN
        # `pool.submit(request.exec)` names the method and does not call it.
        return Waiting.THREADED if uses and not asked else self._blocking(asked[0]) if asked else Waiting.BLOCKING

    def _blocking(self, node: ast.Call) -> Waiting:
        return Waiting.THREADED if any(site for site in self._callers(node) if site) else Waiting.BLOCKING

    def _callers(self, node: ast.AST) -> Iterator[bool]:
        """Yield for each call that leads to `node`, however far, whether another thread runs it."""
        seen: set[Function] = set()
        waiting = [self._program.function_of(node)]
        while waiting:
            function = waiting.pop()
            if function is None or function in seen:
                continue
            seen.add(function)
            for site in self._program.sites_of(function):
                yield site.threaded
                waiting.append(self._program.function_of(site.call))

    def _awaiting(self, asked: ast.Call, depth: int = 0) -> Waiting:
        """Tell how the future or coroutine that `asked` gives is awaited."""
        if self._gathered(asked):
            return Waiting.GATHERED
        function = self._program.function_of(asked)
        sites = self._program.sites_of(function) if isinstance(function, ast.AsyncFunctionDef) else []
        if depth < _DEEPEST and any(self._awaiting(site.call, depth + 1) is Waiting.GATHERED for site in sites):
            return Waiting.GATHERED
        return Waiting.SERIAL if _awaited(self._program, asked) else Waiting.UNKNOWN

    def _gathered(self, asked: ast.Call) -> bool:
        """Tell whether it is awaited with others: by asyncio, or after another one was made."""
        for held in carriers(self._program, asked):
            parent = self._program.parent(held)
            if isinstance(parent, ast.Call) and called(parent) in _TOGETHER and parent.func is not held:
                return True
            if isinstance(parent, ast.Await) and held is not asked and self._overtaken(asked, parent):
                return True
        return False

    def _overtaken(self, asked: ast.Call, awaited: ast.Await) -> bool:
        """Tell whether more is asked before `awaited`: in between, or in a loop that ends before it."""
        if self._program.function_of(asked) is not self._program.function_of(awaited):
            return False
        inside, outside = set(loops_around(self._program, asked)), set(loops_around(self._program, awaited))
        others = _named(self._program, {called(asked)})
        begin, end = position(asked), position(awaited)
        return bool(inside - outside) or any(
            begin < position(other) < end and self._program.file_of(other) == self._program.file_of(asked)
            for other in others
        )

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        """Return the loops around `node`, and around the calls of the function that it is in, however far."""
        seen: set[ast.AST] = set()
        found: dict[ast.AST, None] = {}
        waiting: list[ast.AST] = [node]
        while waiting:
            place = waiting.pop()
            found.update(dict.fromkeys(loops_around(self._program, place)))
            function = self._program.function_of(place)
            if function is not None and function not in seen:
                seen.add(function)
                waiting += [site.call for site in self._program.sites_of(function)]
        return list(found)

    def _is_of_batch(self, loop: ast.AST) -> bool:
        """Tell whether a loop goes over the requests of a batch."""
        function = self._program.function_of(loop)
        batch = batch_of(function) if function is not None and function.name == "execute" else "requests"
        return goes_over(loop, batch)


_DEEPEST = 8


def batch_of(execute: Function) -> str:
    """Return the name that an `execute` gives its batch of requests."""
    names = [name for name in parameters(execute) if name != "self"]
    return names[0] if names else "requests"


def goes_over(loop: ast.AST, name: str) -> bool:
    """Tell whether a loop or comprehension goes over the variable `name`, alone or with others."""
    over = [loop.iter] if isinstance(loop, ast.For | ast.AsyncFor) else []
    over += [generator.iter for generator in getattr(loop, "generators", [])]
    return any(isinstance(node, ast.Name) and node.id == name for each in over for node in ast.walk(each))


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """Return an argument by its keyword or place, None where it is not to be seen."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if len(call.args) > place else None


def _awaited(program: Program, node: ast.Call) -> bool:
    return any(isinstance(program.parent(held), ast.Await) for held in carriers(program, node))


def _decoupled(asked: list[ast.Call]) -> bool | None:
    """Return `decoupled` of the calls of `exec`, None where it is computed."""
    given = [keyword.value for call in asked for keyword in call.keywords if keyword.arg == "decoupled"]
    if not given:
        return False
    return given[0].value if isinstance(given[0], ast.Constant) and isinstance(given[0].value, bool) else None
