"""Drops unneeded code from trees: idle calls, definitions, methods and imports (pure)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from midepoch_conformance.scripts.source.source_tree import (
    FUNCTION,
    Part,
    defined,
    is_import,
    is_said,
    mentioned,
)

__all__ = ["drop_idle", "drop_unreached", "fill"]


def drop_idle(trees: Sequence[ast.Module], parts: Sequence[Part], asked: Collection[str]) -> None:
    """Drop the calls of the suite's methods that do nothing any more."""
    busy, idle = set(asked), set[str]()
    for tree, part in zip(trees, parts, strict=True):
        for function in (n for n in ast.walk(tree) if isinstance(n, FUNCTION)):
            (busy if part.foreign or not _is_idle(function) else idle).add(function.name)
    for tree in trees:
        _Silencer(idle - busy).visit(tree)


def _is_idle(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(is_said(node) or isinstance(node, ast.Pass) for node in function.body)


class _Silencer(ast.NodeTransformer):
    def __init__(self, idle: Collection[str]) -> None:
        self.idle = idle

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        call = node.value
        method = call.func if isinstance(call, ast.Call) else None
        return None if isinstance(method, ast.Attribute) and method.attr in self.idle else node


def fill(trees: Sequence[ast.Module]) -> None:
    """Give a body to statements that have lost their own."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if not isinstance(node, ast.Module) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]  # it has one


def drop_unreached(trees: Sequence[ast.Module], parts: Sequence[Part], roots: set[str]) -> None:
    """Drop definitions and imports that ``roots`` do not reach, and methods that nothing names."""
    body = [node for tree in trees for node in tree.body]
    known = {node.name for node in body if isinstance(node, ast.ClassDef)}
    reached, before = roots, set[str]()
    words: dict[ast.AST, set[str]] = {}  # that a node mentions
    while reached != before:
        before = set(reached)
        for tree, part in zip(trees, parts, strict=True):
            named = _methods(before, part)
            for node in (n for n in tree.body if _is_reached(n, before) and not is_import(n)):
                methods = _unreached(node, known, named)
                for child in ast.iter_child_nodes(node) if methods else [node]:
                    if child in methods:
                        continue
                    said = words[child] if child in words else mentioned(child)
                    words[child] = said
                    # An object's own attribute belongs to a class in the same module.
                    reached |= {f"{_group(part)}{n}" if n[:5] == "self." else n for n in said}
    for tree, part in zip(trees, parts, strict=True):
        tree.body = [node for node in tree.body if _is_reached(node, reached)]
        named = _methods(reached, part)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                methods = _unreached(node, known, named)
                node.body = [m for m in node.body if m not in methods] or [ast.Pass()]
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a for a in node.names if (a.asname or a.name).split(".")[0] in reached]
                node.names = names


def _group(part: Part) -> str:
    return "foreign " if part.foreign else f"{id(part)} "


def _is_reached(node: ast.stmt, reached: Collection[str]) -> bool:
    return not defined(node) or not defined(node).isdisjoint(reached)


def _methods(reached: Collection[str], part: Part) -> set[str]:
    """Return the names of the methods that are reached in a part, each as ``.name``."""
    group = f"{_group(part)}self"
    own = {name[len(group) :] for name in reached if name.startswith(group)}
    return own | {name for name in reached if name[0] == "."}


def _unreached(node: ast.stmt, known: Collection[str], named: Collection[str]) -> list[ast.stmt]:
    """Return the methods of a class that nothing reaches.

    A class that is derived from one of another module keeps its methods: that may call them.
    """
    if not isinstance(node, ast.ClassDef) or any(_name(base) not in known for base in node.bases):
        return []
    methods = [member for member in node.body if isinstance(member, FUNCTION)]
    return [m for m in methods if f".{m.name}" not in named and not m.name.endswith("__")]


def _name(base: ast.expr) -> str:
    return base.id if isinstance(base, ast.Name) else ""
