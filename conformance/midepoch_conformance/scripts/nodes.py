"""Small questions about the nodes of a syntax tree (pure)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "COMPARED",
    "UNKNOWN",
    "gives",
    "holds_long_text",
    "identifiers",
    "is_plain",
    "pairs",
    "run_now",
    "tried",
]

UNKNOWN = object()
"""What an expression comes to of which that is not known."""

_LISTED = 16
"""Elements of a sequence up to which it is written out."""

COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def gives(node: ast.AST, name: str) -> bool:
    """Return whether a node gives a name its value, in whatever way."""
    if isinstance(node, ast.arg):
        return node.arg == name
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return what is assigned to what, tuples one by one where they can be."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(element, value) for element in target.elts]


def run_now(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are evaluated with an expression: not what stands in lambdas."""
    yield node
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from run_now(child)


def holds_long_text(node: ast.AST) -> bool:
    """Return whether there is a text of several lines, which must not be moved."""
    texts = (n for n in ast.walk(node) if isinstance(n, (ast.Constant, ast.JoinedStr)))
    return any(n.lineno != n.end_lineno for n in texts)


def identifiers(tree: ast.AST) -> set[str]:
    """Return all names in a tree that are no members: of variables, arguments and definitions.

    Example:
        >>> sorted(identifiers(ast.parse("def f(a): return a.b + c")))
        ['a', 'c', 'f']
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        for field in ("id", "arg", "asname"):
            found.add(getattr(node, field, None) or "")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias)):
            found.add(node.name)
    return found - {""}


def is_plain(value: object) -> bool:
    """Return whether a value is written out by its ``repr``, and is short."""
    if isinstance(value, (tuple, list)):
        return len(value) <= _LISTED and all(map(is_plain, value))
    return value is None or (isinstance(value, (bool, int, str)) and not _is_negative(value))


def _is_negative(value: object) -> bool:
    return isinstance(value, int) and value < 0


def tried(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return what a comparison comes to; ``UNKNOWN`` where the two cannot be compared."""
    try:
        return bool(compare(a, b))
    except TypeError:
        return UNKNOWN
