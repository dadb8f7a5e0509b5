"""Puts known values into a tree, and drops what they decide (pure)."""

# The methods' names tell the nodes that they visit.
# ruff: noqa: D102

from __future__ import annotations

import ast
import contextlib
import copy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from midepoch_conformance.scripts.source.source_tree import Part, defined

__all__ = ["Fold", "tables_of"]

_PLAIN = (int, float, str, bool, type(None), tuple)
_Node = TypeVar("_Node", bound=ast.AST)


class Fold(ast.NodeTransformer):
    """Puts constants in, and drops what they decide."""

    def __init__(self, part: Part, tables: Mapping[str, ast.expr]) -> None:
        self.part, self.tables = part, tables

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = node.id in self.part.values and isinstance(node.ctx, ast.Load)
        return _constant(self.part.values[node.id]) if known else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        facts = self.part.facts.get(_owner(node), {})
        if not isinstance(node.ctx, ast.Load) or node.attr not in facts:
            return node
        value = facts[node.attr]
        return _constant(value) if isinstance(value, _PLAIN) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return _evaluated(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _evaluated(node) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        either = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for number, value in enumerate(node.values):
            known, truth = _known(value)
            if not known or (bool(truth) == either) or number == len(node.values) - 1:
                left.append(value)
            if known and bool(truth) == either:
                break
        # A constant at the end decides nothing if another operand comes before it.
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        known, truth = _known(node.test)
        # Two equal constants: nothing is decided, and nothing is left to decide.
        alike = ast.dump(node.body) == ast.dump(node.orelse) and _known(node.body)[0]
        return (node.body if truth or alike else node.orelse) if known or alike else node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        known, truth = _known(node.test)
        if known:
            return node.body if truth else node.orelse
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.value, ast.Name)
        table = self.tables.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
        known, key = _known(node.slice)
        if not known or not isinstance(node.ctx, ast.Load):
            return node
        if isinstance(table, ast.Dict):
            for name, value in zip(table.keys, table.values, strict=True):
                if name is not None and _known(name) == (True, key):
                    return copy.deepcopy(value)
            if all(name is not None and _known(name)[0] for name in table.keys):
                node.value = ast.Dict([], [])  # there is no such key
        elif not named and _known(table or node)[0]:
            return _evaluated(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        pairs = [p for p in zip(node.keys, node.values, strict=True) if not _is_nothing(*p)]
        node.keys, node.values = [key for key, _ in pairs], [value for _, value in pairs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg or not _is_nothing(None, k.value)]
        node.args = [a for a in node.args if not isinstance(a, ast.Starred) or not _is_empty(a)]
        named = isinstance(node.func, ast.Name) and node.func.id == "bool"
        known, value = _known(node.args[0]) if named and node.args else (False, None)
        return ast.Constant(bool(value)) if known else node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        items = _few(node.iter, node.target)
        leaps = any(isinstance(n, (ast.Break, ast.Continue)) for n in ast.walk(node))
        if items is None or leaps:
            return node
        bodies = (_with(part, node.target, item) for item in items for part in node.body)
        return [*bodies, *node.orelse]

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        each = node.generators[0]
        items = _few(each.iter, each.target)
        if items is None or len(node.generators) > 1 or each.ifs:
            return node
        return ast.List([_with(node.elt, each.target, item) for item in items], ast.Load())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        return _ended(node)


def _owner(node: ast.Attribute) -> str:
    """Return the variable whose attribute it is: ``w`` of ``w.n`` and of ``self.w.n``."""
    value = node.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.attr if value.value.id == "self" else ""
    return value.id if isinstance(value, ast.Name) else ""


def _constant(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def _known(node: ast.AST) -> tuple[bool, Any]:
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False, None


def _evaluated(node: _Node) -> _Node | ast.expr:
    """Return the value of an operation on constants; any other operation stays as it is."""
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    if not all(_known(part)[0] for part in parts):
        return node
    # Its operations are expressions, which the type variable of a node does not say.
    code = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))  # type: ignore[arg-type]
    with warnings.catch_warnings(), contextlib.suppress(TypeError, LookupError):
        warnings.simplefilter("ignore", SyntaxWarning)  # comparing two literals is no mistake here
        return _constant(eval(compile(code, "constants", "eval")))
    return node


_FEW = 4
"""Rounds of a loop that may stand one after the other."""


def _few(items: ast.expr, target: ast.expr) -> list[Any] | None:
    """Return the items of a loop, if they are known and few."""
    known, values = _known(items)
    named = isinstance(target, ast.Name) and isinstance(values, (tuple, list))
    return list(values) if known and named and len(values) <= _FEW else None


def _with(node: _Node, target: ast.expr, value: Any) -> _Node:
    """Return a copy of a node with a value in the place of a variable."""
    part = Part("", values={target.id: value} if isinstance(target, ast.Name) else {})
    # The standard library declares visit() without a type.
    return Fold(part, {}).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


def _is_nothing(key: ast.expr | None, value: ast.expr) -> bool:
    return key is None and isinstance(value, ast.Dict) and not value.keys


def _is_empty(node: ast.Starred) -> bool:
    return isinstance(node.value, (ast.List, ast.Tuple)) and not node.value.elts


def _ended(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return the function up to its end, and without a name for what it returns at once."""
    for number, statement in enumerate(node.body):
        if isinstance(statement, (ast.Return, ast.Raise)):
            del node.body[number + 1 :]
            break
    *_, before, last = [None, None, *node.body]
    if isinstance(before, ast.Assign) and isinstance(last, ast.Return):
        target, value = before.targets[0], last.value
        same = isinstance(target, ast.Name) and isinstance(value, ast.Name)
        if same and ast.unparse(target) == ast.unparse(last).removeprefix("return "):
            node.body[-2:] = [ast.Return(before.value)]
    return node


def tables_of(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the dictionaries that a module defines, by name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            yield from ((name, node.value) for name in defined(node))
