"""What nobody names in an adapter's source, once it is folded for a case (pure text)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

__all__ = ["unused_lines"]

PROTOCOL = ("offer", "declines", "prepare")
"""What an adapter has for the suite alone."""

SESSION = ("epoch", "state", "load", "close")

_REACHING = frozenset({"globals", "locals", "eval", "exec", "__import__", "modules"})
"""By these code may reach whatever the module holds without naming it."""

_MEMBERS = frozenset({"vars", "dir", "getattr", "hasattr", "__dict__"})
"""By these code may reach an object's members without naming them."""


def unused_lines(text: str, attribute: str, used: Set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield what can be cut out of ``text``: where it begins and ends, and what takes its place.

    Args:
        text: an adapter's module.
        attribute: the adapter's name in it.
        used: the methods of a session that are called.
    """
    tree = ast.parse(text)
    starts = _starts(text)
    yield from (_cut(text, starts, node) for node in _unused(tree, attribute, used))
    names = _names(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.lineno == node.end_lineno:
            yield from _trimmed(node, names, starts)


def _unused(tree: ast.Module, attribute: str, used: Set[str]) -> Iterator[ast.stmt]:
    everything = _names(tree.body)
    if not everything & _REACHING:
        yield from _unreached(tree, attribute)
    if everything & _MEMBERS:
        return
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    spare = {*PROTOCOL, *(set(SESSION) - used)} - _mentioned(tree)
    for node in classes.values():
        methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        ours = methods & {"open", "epoch"} or _inherits(node, classes)
        if ours and _is_plain(node, classes):
            members = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name in spare]
            yield from (n for n in members if len(node.body) > 1 and not n.decorator_list)


def _unreached(tree: ast.Module, attribute: str) -> Iterator[ast.stmt]:
    """Yield the definitions that nothing leads to from the adapter and from what is done."""
    defined = {name: node for node in tree.body for name in _defines(node, tree)}
    kept = [node for node in tree.body if node not in defined.values()]
    reached = _names(kept) | {attribute}
    while True:
        found = {name for name in reached if name in defined}
        more = _names(defined[name] for name in found) | reached
        if more == reached:
            break
        reached = more
    for node in tree.body:
        names = set(_defines(node, tree))
        if names and not names & reached:
            yield node


def _defines(node: ast.stmt, tree: ast.Module) -> Iterator[str]:
    """Yield the names that a statement defines, if it does nothing else."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        if not node.decorator_list or all(map(_is_dataclass, node.decorator_list)):
            yield node.name
    elif isinstance(node, ast.Assign) and not _acts(node.value, tree):
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        yield from names if len(names) == len(node.targets) else []


def _acts(value: ast.expr, tree: ast.Module) -> bool:
    """Return whether an assigned value may do more than be there: it calls something foreign."""
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return any(not isinstance(c.func, ast.Name) or c.func.id not in classes for c in calls)


def _is_dataclass(node: ast.expr) -> bool:
    name = node.func if isinstance(node, ast.Call) else node
    last = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return last == "dataclass"


def _inherits(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a class has an adapter's or a session's method from a base in this file."""
    for base in node.bases:
        above = classes.get(getattr(base, "id", ""))
        if above is not None:
            methods = {n.name for n in above.body if isinstance(n, ast.FunctionDef)}
            if methods & {"open", "epoch"} or _inherits(above, classes):
                return True
    return False


def _is_plain(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether all that a class is made of stands in this file."""
    if node.keywords or not all(map(_is_dataclass, node.decorator_list)):
        return False
    names = [getattr(base, "id", "") for base in node.bases]
    return all(n == "object" or (n in classes and _is_plain(classes[n], classes)) for n in names)


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all that is named: names, attributes, and texts that may be names."""
    found: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} | set(node.value.replace("[", " ").replace("]", " ").split())
    return found


def _mentioned(tree: ast.Module) -> set[str]:
    """Return the names that are used as members: of any object, under any circumstance."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def _trimmed(
    node: ast.ImportFrom, names: set[str], starts: list[int]
) -> Iterator[tuple[int, int, str]]:
    """Yield an import without the names that are used no more, if any are left."""
    kept = [a for a in node.names if a.name == "*" or (a.asname or a.name) in names]
    if node.module == "__future__" or not kept or len(kept) == len(node.names):
        return
    listed = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in kept)
    start = starts[node.lineno - 1]
    module = "." * node.level + (node.module or "")
    yield (
        start + node.col_offset,
        start + (node.end_col_offset or 0),
        f"from {module} import {listed}",
    )


def _starts(text: str) -> list[int]:
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _cut(text: str, starts: list[int], node: ast.stmt) -> tuple[int, int, str]:
    """Return the place of a whole statement, with its comment and the blank lines after it."""
    lines = text.splitlines()
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
    last = node.end_lineno or node.lineno
    while first and lines[first - 1].strip().startswith("#"):
        first -= 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    at_end = last == len(lines) or _indent(lines[last]) < node.col_offset
    if at_end:
        # The block ends here: the blank lines before it go instead of those after it.
        last = node.end_lineno or node.lineno
        while first and not lines[first - 1].strip():
            first -= 1
    return starts[first], min(starts[last], len(text.encode())), ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
