"""A module's source as a tree: its definitions, and the names that it uses (pure)."""

from __future__ import annotations

import ast
import dataclasses
import functools
import pickle
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

__all__ = [
    "FUNCTION", "SHARED", "SUITE", "Part", "assigned", "defined", "is_import", "is_said",
    "is_stored", "mentioned", "parsed", "rename",
]  # fmt: skip

SUITE = "midepoch_conformance"

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
"""The nodes of functions."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A module's text, and the known values in it."""

    text: str
    facts: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """Of a variable's name, or of ``self.name``, the attributes with their values."""

    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Of a variable's name, its value."""

    foreign: bool = False
    """Whether its names give way to those of the suite."""


def defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, (ast.ClassDef, *FUNCTION)):
        return {node.name}
    if isinstance(node, ast.Assign):
        names = (n for target in node.targets for n in ast.walk(target))
        return {n.id for n in names if is_stored(n)}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    return set()


def mentioned(node: ast.AST, inside: frozenset[str] = frozenset()) -> set[str]:
    """Return the names that a node uses: names that are not its own, and attributes.

    An attribute is ``.name``, or ``self.name`` if it is the object's own.

    Example:
        >>> sorted(mentioned(ast.parse("def f(a): return a.b + c")))
        ['.b', 'c']
    """
    found: set[str] = set()
    _mention(node, inside, found)
    return found


def _mention(node: ast.AST, inside: frozenset[str], found: set[str]) -> None:
    if isinstance(node, (*FUNCTION, ast.Lambda)):
        inside |= {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        if not isinstance(node, ast.Lambda):
            inside |= {n.id for n in ast.walk(node) if is_stored(n)}
    if isinstance(node, ast.Name) and node.id not in inside:
        found.add(node.id)
    elif isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        found.add(f"{'self' * own}.{node.attr}")
    for child in ast.iter_child_nodes(node):
        _mention(child, inside, found)


def is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    """Return whether a node is a name that is assigned."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def parsed(part: Part) -> ast.Module:
    """Return the tree without annotations, imports of the suite, docstring and ``__all__``."""
    tree: ast.Module = pickle.loads(_bare(part.text, part.foreign)[0])
    return tree


def assigned(part: Part) -> frozenset[str]:
    """Return the names that the tree of :func:`parsed` assigns anywhere."""
    return _bare(part.text, part.foreign)[1]


@functools.lru_cache(64)
def _bare(text: str, foreign: bool) -> tuple[bytes, frozenset[str]]:
    """Return a tree, pickled, and the names that it assigns.

    All scripts of a run are made of the same few modules, and each changes its own copy.
    """
    tree: ast.Module = _Bare(foreign).visit(ast.parse(text))
    tree.body = [node for node in tree.body if not is_said(node) and not _is_of_the_suite(node)]
    tree.body = [node for node in tree.body if defined(node) != {"__all__"}]
    stored = (n.id for n in ast.walk(tree) if is_stored(n))
    return pickle.dumps(ast.fix_missing_locations(tree)), frozenset(stored)


class _Bare(ast.NodeTransformer):
    """Takes annotations away, docstrings but for their first line, and the suite's prefixes."""

    def __init__(self, foreign: bool) -> None:
        self.foreign = foreign
        self.modules: set[str] = set()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if (node.module or "").partition(".")[0] == SUITE:
            self.modules |= {a.asname or a.name for a in node.names}
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.modules & _MODULES:
            return ast.Name(node.attr, node.ctx)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        text = ast.get_docstring(node)
        if text is not None:
            node.body[0] = ast.Expr(ast.Constant(text.strip().partition("\n")[0]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for member in node.body if self.foreign else ():
            if isinstance(member, ast.AnnAssign):  # it may be a field of a dataclass
                member.annotation = ast.Constant(ast.unparse(member.annotation))
        self.generic_visit(node)
        body = [n for i, n in enumerate(node.body) if not (i and is_said(n))]
        node.body = body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if isinstance(node.annotation, ast.Constant) and self.foreign:
            return node
        return ast.Assign([node.target], node.value) if node.value is not None else None


SHARED = ("torch_data", "process_group")
"""The modules that adapters share."""

_MODULES = {*SHARED, "samplers", "sources", "trees", "tampering"}
"""Modules of the suite whose names other modules reach through the module's own."""


def is_said(node: ast.stmt) -> bool:
    """Return whether a statement is a constant alone, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_import(node: ast.stmt) -> bool:
    """Return whether a statement imports something."""
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_of_the_suite(node: ast.stmt) -> bool:
    """Return whether a statement imports what a script has itself: an adapter's base it has not."""
    if not isinstance(node, ast.ImportFrom):
        return False
    module, *rest = (node.module or "").split(".")
    whose = {alias.name for alias in node.names}
    based = rest[:1] == ["adapters"] and not {*rest, *whose} & {*SHARED}
    return module in (SUITE, "__future__") and not based


def rename(trees: Sequence[ast.Module], parts: Sequence[Part], taken: set[str]) -> None:
    """Rename foreign definitions, and imported names, whose names are taken."""
    for tree, part in zip(trees, parts, strict=True):
        taken |= _defined(tree) if not part.foreign else set()
    foreign = [tree for tree, part in zip(trees, parts, strict=True) if part.foreign]
    names = taken & {name for tree in foreign for node in tree.body for name in defined(node)}
    for tree in foreign:
        _Renamer({name: f"{name}_" for name in names}).visit(tree)


def _defined(tree: ast.Module) -> set[str]:
    return {name for node in tree.body if not is_import(node) for name in defined(node)}


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Import(self, node: ast.Import) -> ast.AST:
        self._import(node.names)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        self._import(node.names)
        return node

    def _import(self, aliases: list[ast.alias]) -> None:
        for alias in aliases:
            bound = alias.asname or alias.name
            alias.asname = self.names.get(bound, alias.asname)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)
