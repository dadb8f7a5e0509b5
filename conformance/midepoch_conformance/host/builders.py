"""The functions of a file that may build a loader: for advice on a loader's name.

The file is only read: it may be one that cannot be imported (standard library only).
"""

from __future__ import annotations

import ast
import contextlib

__all__ = ["advice", "builders"]

_NAMED = 5
"""The most names that advice has."""


def builders(path: str) -> list[str]:
    """Return a file's functions of ``num_workers``; all its public functions if it has none such.

    A file that cannot be read has none.
    """
    tree = ast.Module([], [])
    with contextlib.suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
        tree = ast.parse(file.read())
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    public = [one for one in functions if not one.name.startswith("_")]
    able = [one for one in public if _takes_workers(one.args)]
    return [one.name for one in able or public]


def advice(typed: str, path: str) -> str:
    """Return how to name a function of a file.

    Args:
        typed: the file, or its module, as the user typed it.
        path: the file.

    Example:
        >>> advice("nowhere.py", "nowhere.py")
        'name the function of num_workers that builds the loader: nowhere.py:FUNCTION'
    """
    found = builders(path)
    # The usual name comes first.
    found.sort(key=lambda name: name != "make_loader")
    names = " or ".join(f"{typed}:{name}" for name in found[:_NAMED] or ["FUNCTION"])
    return f"name the function of num_workers that builds the loader: {names}"


def _takes_workers(arguments: ast.arguments) -> bool:
    named = (*arguments.args, *arguments.kwonlyargs)
    return arguments.kwarg is not None or any(one.arg == "num_workers" for one in named)
