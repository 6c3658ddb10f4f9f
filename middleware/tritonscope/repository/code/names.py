"""What a string in a model's code may be, found by following names to where they are set; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

from tritonscope.repository.code.facts import CalleeName, Origin
from tritonscope.repository.code.program import (
    Binding,
    Function,
    Program,
    Site,
    called,
    given,
    last_name,
    parameters,
)

Names = frozenset[CalleeName]

_NONE: Names = frozenset()
_MOST_NAMES = 64
_DEEPEST = 40
_MOST_STEPS = 20_000
# A value in a configuration's parameter: {"parameters": {KEY: {"string_value": VALUE}}}.
_VALUE = "string_value"
_SAME = {"strip", "str", "decode", "encode", "rstrip", "lstrip"}
_SAME_ELEMENTS = {"list", "tuple", "set", "sorted", "reversed", "tqdm"}
_LONGEST = 60


class Evaluator:
    """Finds the names that expressions of `program` may be; each expression is looked at once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[ast.expr, Names] = {}
        self._depth = 0
        self._steps = 0
        self._owners: set[ast.expr] = set()
        # What the call that is being followed gives for the parameters of its function.
        self._frames: dict[Function, dict[str, ast.expr | None]] = {}
        self._looks: dict[type[ast.expr], Callable[[Any], Names]] = {
            ast.Constant: lambda node: _literal(node.value),
            ast.JoinedStr: lambda node: self._joined([self._part(part) for part in node.values], node),
            ast.BinOp: self._sum,
            ast.IfExp: lambda node: self._union([node.body, node.orelse], node),
            ast.BoolOp: lambda node: self._union(node.values, node),
            ast.Name: self._variable,
            ast.Attribute: lambda node: self._bound(self._held(node)) or _unknown(node),
            ast.Subscript: lambda node: self._item(node.value, node.slice, None, node),
            ast.Call: self._call,
            ast.NamedExpr: lambda node: self._names(node.value),
            ast.Await: lambda node: self._names(node.value),
        }

    def names(self, expression: ast.expr) -> tuple[CalleeName, ...]:
        """Return what `expression` may be, the known names first, in a fixed order; at least one."""
        found = self._names(expression) - {CalleeName(Origin.LITERAL, "")}
        return tuple(_in_order(found or _unknown(expression)))

    def _names(self, node: ast.expr) -> Names:
        if node in self._known:
            return self._known[node]
        if self._depth >= _DEEPEST or self._steps >= _MOST_STEPS:
            return _unknown(node)
        self._known[node] = _NONE  # what leads back to itself adds nothing
        self._depth += 1
        self._steps += 1
        found = self._look(node)
        self._depth -= 1
        self._known[node] = frozenset(_in_order(found)[:_MOST_NAMES])
        return self._known[node]

    def _look(self, node: ast.expr) -> Names:
        if isinstance(node, ast.Compare | ast.Constant) and not isinstance(getattr(node, "value", None), str):
            return _NONE  # no string, so no name
        look = self._looks.get(type(node))
        return look(node) if look is not None else _unknown(node)

    def _part(self, part: ast.expr) -> Names:
        return self._names(part.value) if isinstance(part, ast.FormattedValue) else self._names(part)

    def _joined(self, parts: list[Names], node: ast.expr) -> Names:
        """Return all ways to join the parts, if all are literal; else the expression as it is written."""
        ways = 1
        for part in parts:
            ways *= len(part)
        literal = all(name.origin is Origin.LITERAL for part in parts for name in part)
        if not literal or not 0 < ways <= _MOST_NAMES:
            return _unknown(node)
        return frozenset(CalleeName(Origin.LITERAL, "".join(name.text for name in way)) for way in product(*parts))

    def _sum(self, node: ast.BinOp) -> Names:
        if not isinstance(node.op, ast.Add):
            return _unknown(node)
        return self._joined([self._names(node.left), self._names(node.right)], node)

    def _variable(self, node: ast.Name) -> Names:
        bindings = self._held(node)
        return self._bound(bindings) or (_NONE if bindings else _unknown(node))

    def _given(self, function: Function, parameter: str) -> list[Binding]:
        """Return what the calls of `function` give for a parameter: the call that is followed, else all of them."""
        if function in self._frames:
            value = self._frames[function].get(parameter)
            return [Binding(value)] if value is not None else []
        values = [(given(function, site, parameter), site) for site in self._program.sites_of(function)]
        return [
            Binding(value, each=site.each and value in site.args) for value, site in values if value is not None
        ]

    def _bound(self, bindings: Iterable[Binding]) -> Names:
        """Return what is in `bindings`; what cannot be told is left to the caller if nothing can."""
        found = _NONE
        for binding in bindings:
            for value in self._values(binding):
                found |= self._names(value) if value is not None else _unknown(binding.value)
        return found

    def _values(self, binding: Binding) -> Iterator[ast.expr | None]:
        """Yield the expressions that a binding stands for, None for one that cannot be told."""
        if not binding.each:
            yield binding.value if binding.part is None else None
            return
        yield from self._elements(binding.value, binding.part, set())

    def _elements(
        self, node: ast.expr, part: int | None, seen: set[tuple[ast.expr, int | None]]
    ) -> Iterator[ast.expr | None]:
        """Yield the elements of what `node` may hold, of tuples a part; `seen` is not looked at again."""
        for source in self._sources(node):
            if (source, part) in seen:
                continue
            seen.add((source, part))
            if isinstance(source, ast.List | ast.Tuple | ast.Set):
                yield from (_part_of(element, part) for element in source.elts)
            elif isinstance(source, ast.Dict):
                yield from (key for key in source.keys if key is not None)
            elif isinstance(source, ast.Call):
                yield from self._elements_of_call(source, part, seen)
            else:
                yield None

    def _elements_of_call(
        self, node: ast.Call, part: int | None, seen: set[tuple[ast.expr, int | None]]
    ) -> Iterator[ast.expr | None]:
        name, args = called(node), node.args
        if name == "enumerate" and args and part == 1:
            yield from self._elements(args[0], None, seen)
        elif name == "zip" and part is not None and part < len(args):
            yield from self._elements(args[part], None, seen)
        elif name in _SAME_ELEMENTS and args:
            yield from self._elements(args[0], part, seen)
        elif name in {"items", "values", "keys"} and isinstance(node.func, ast.Attribute):
            values = name == "values" or (name == "items" and part == 1)
            for pairs in self._sources(node.func.value):
                if isinstance(pairs, ast.Dict):
                    yield from (pairs.values if values else pairs.keys)
        else:
            yield None

    def _held(self, node: ast.expr) -> list[Binding]:
        """Return what a variable, parameter or attribute may hold, nothing of any other expression."""
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if not isinstance(node, ast.Name):
            return []
        function = self._program.parameter_owner(node.id, node)
        its = self._given(function, node.id) if function is not None else []
        return [*self._program.bindings(node.id, node), *its]

    def _attribute(self, node: ast.Attribute) -> list[Binding]:
        """Return what an attribute may hold: of `self`, of a class, of an object of a class, or of a module."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in {"self", "cls"}:
            return self._program.attribute(node.attr, self._program.class_of(node))
        if isinstance(base, ast.Name) and base.id in self._program.classes:
            return self._program.attribute(node.attr, base.id)
        if base in self._owners:  # it leads back to itself
            return []
        self._owners.add(base)
        made = [called(source) for source in self._sources(base) if isinstance(source, ast.Call)]
        self._owners.remove(base)
        found = [
            its
            for name in made
            if name in self._program.classes
            for its in self._program.attribute(node.attr, name)
        ]
        return found or self._program.module_variable(node.attr, last_name(base))

    def _sources(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions that `node` may stand for, following variables."""
        found: dict[ast.expr, None] = {}
        seen, waiting = {node}, [node]
        while waiting:
            source = waiting.pop()
            plain = [its.value for its in self._held(source) if not its.each and its.part is None]
            if not plain:
                found[source] = None
            waiting += [value for value in plain if value not in seen]
            seen.update(plain)
        return list(found)

    def _item(self, base: ast.expr, key: ast.expr, default: ast.expr | None, node: ast.expr) -> Names:
        """Return what `base[key]` may be."""
        if isinstance(key, ast.Constant) and key.value == _VALUE:
            return self._parameter(base, default, node)
        if last_name(base) == "environ":
            return self._environment(key, default, node)
        found = _NONE
        for source in self._sources(base):
            found |= self._item_of(source, key)
        return found or _unknown(node)

    def _item_of(self, source: ast.expr, key: ast.expr) -> Names:
        if isinstance(source, ast.Dict):
            wanted = {name.text for name in self._names(key) if name.origin is Origin.LITERAL}
            pairs = zip(source.keys, source.values, strict=True)
            chosen = [value for its, value in pairs if isinstance(its, ast.Constant) and its.value in wanted]
            return self._union(chosen or source.values, source)
        if isinstance(source, ast.List | ast.Tuple):
            number = key.value if isinstance(key, ast.Constant) else None
            inside = isinstance(number, int) and -len(source.elts) <= number < len(source.elts)
            return self._union([source.elts[number]] if inside else source.elts, source)  # type: ignore[index]
        if isinstance(source, ast.DictComp) and _takes_value(source.value):
            return frozenset(
                CalleeName(Origin.PARAMETER, name.text) for name in self._names(key) if _is_literal(name)
            )
        return _NONE

    def _parameter(self, base: ast.expr, default: ast.expr | None, node: ast.expr) -> Names:
        """Return the parameter whose value is taken: `base` is `...[KEY]` or `....get(KEY)`, or holds one."""
        found = _NONE
        for source in self._sources(base):
            key = _key(source)
            for name in self._names(key) if key is not None else ():
                found |= self._with_default(Origin.PARAMETER, name, default)
        return found or _unknown(node)

    def _environment(self, key: ast.expr, default: ast.expr | None, node: ast.expr) -> Names:
        found = _NONE
        for name in self._names(key):
            found |= self._with_default(Origin.ENVIRONMENT, name, default)
        return found or _unknown(node)

    def _with_default(self, origin: Origin, key: CalleeName, default: ast.expr | None) -> Names:
        if not _is_literal(key):
            return _NONE
        literals = [name.text for name in self._names(default) if _is_literal(name)] if default is not None else []
        return frozenset({CalleeName(origin, key.text, min(literals, default=""))})

    def _call(self, node: ast.Call) -> Names:
        name, args = called(node), node.args
        default = args[1] if len(args) > 1 else None
        if name == "getenv" and args:
            return self._environment(args[0], default, node)
        if name == "get" and args and isinstance(node.func, ast.Attribute):
            found = self._item(node.func.value, args[0], default, node)
            unknown = any(its.origin is Origin.UNKNOWN for its in found)
            return found if default is None or not unknown else found | self._names(default)
        if name in _SAME or self._is_str(node.func):
            same = node.func.value if isinstance(node.func, ast.Attribute) else args[0] if args else None
            return self._names(same) if same is not None else _unknown(node)
        return self._returned(node) or _unknown(node)

    def _is_str(self, function: ast.expr) -> bool:
        """Tell whether a variable may hold `str`, as the type to convert to that a helper function takes."""
        return any(isinstance(source, ast.Name) and source.id == "str" for source in self._sources(function))

    def _returned(self, call: ast.Call) -> Names:
        """Return what the program's function that `call` calls may return to it."""
        found = _NONE
        for function in self._program.functions.get(called(call), ()):
            if function not in self._frames:
                found |= self._returned_by(function, call)
        return found

    def _returned_by(self, function: Function, call: ast.Call) -> Names:
        site = Site(call, tuple(call.args), {key.arg: key.value for key in call.keywords if key.arg})
        known, self._known = self._known, {}
        self._frames[function] = {name: given(function, site, name) for name in parameters(function)}
        returns = [
            node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None
        ]
        found = _NONE.union(*(self._names(value) for value in returns))
        del self._frames[function]
        self._known = known
        return found

    def _union(self, nodes: Iterable[ast.expr], whole: ast.expr) -> Names:
        found = _NONE
        for node in nodes:
            found |= self._names(node)
        return found or _unknown(whole)


def _in_order(names: Names) -> list[CalleeName]:
    """Return the names, those that are known first."""
    order = list(Origin)
    return sorted(names, key=lambda name: (order.index(name.origin), name.text, name.default))


def _is_literal(name: CalleeName) -> bool:
    return name.origin is Origin.LITERAL


def _literal(text: str) -> Names:
    return frozenset({CalleeName(Origin.LITERAL, text)})


def _unknown(node: ast.expr) -> Names:
    text = " ".join(ast.unparse(node).split())
    return frozenset({CalleeName(Origin.UNKNOWN, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")})


def _part_of(element: ast.expr, part: int | None) -> ast.expr | None:
    if part is None:
        return element
    parts = element.elts if isinstance(element, ast.Tuple | ast.List) else []
    return parts[part] if part < len(parts) else None


def _key(source: ast.expr) -> ast.expr | None:
    """Return KEY of `...[KEY]` and of `....get(KEY, ...)`."""
    if isinstance(source, ast.Subscript):
        return source.slice
    if isinstance(source, ast.Call) and called(source) == "get" and source.args:
        return source.args[0]
    return None


def _takes_value(node: ast.expr) -> bool:
    """Tell whether `node` is `...["string_value"]` or `....get("string_value")`."""
    key = _key(node)
    return isinstance(key, ast.Constant) and key.value == _VALUE
