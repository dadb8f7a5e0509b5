"""What becomes of the workload and the execution that an adapter is handed (pure text)."""

from __future__ import annotations

import ast

__all__ = ["escapes", "parameters"]


def parameters(source: str) -> tuple[str, str] | None:
    """Return the names that ``open`` gives to the workload and the execution.

    None where there are several such methods that disagree, or none.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == "open":
            names = [a.arg for a in node.args.args]
            if len(names) == 4:
                found.add((names[1], names[2]))
    return found.pop() if len(found) == 1 else None


def escapes(source: str, names: tuple[str, str] | None) -> bool:
    """Return whether the workload or the execution is handed to code that is not in ``source``.

    ``names``: what they are called in it; where that is not known, neither is their way.
    """
    if names is None:
        return True
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    here = {n.name for n in ast.walk(tree) if isinstance(n, functions)}
    classes = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = [*node.args, *(k.value for k in node.keywords)]
            handed = any(_is_one_of(argument, names) for argument in given)
            if handed and not _is_known(node.func, here, classes):
                return True
    return False


def _is_one_of(node: ast.expr, names: tuple[str, str]) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in names


def _is_known(callee: ast.expr, here: set[str], classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether what is called has its code in the file."""
    if isinstance(callee, ast.Attribute):
        return callee.attr in here and callee.attr != "__init__"
    if not isinstance(callee, ast.Name):
        return False
    return callee.id in here or (callee.id in classes and _begins(classes[callee.id], classes))


def _begins(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a class's ``__init__`` is one of the file's."""
    if any(isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in node.body):
        return True
    above = [classes[getattr(b, "id", "")] for b in node.bases if getattr(b, "id", "") in classes]
    return any(_begins(base, classes) for base in above)
