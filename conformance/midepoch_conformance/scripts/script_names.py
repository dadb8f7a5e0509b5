"""The names in a failure's script: its imports, and what is not the adapter's (pure text)."""

from __future__ import annotations

import ast
import re
import textwrap

__all__ = ["apart", "import_line", "imports", "names_module"]

_MODULES = (
    "collections", "contextlib", "copy", "hashlib", "importlib.resources", "itertools", "json",
    "jsonschema", "multiprocessing", "operator", "os", "pathlib", "pickle", "random", "re",
    "signal", "subprocess", "sys", "tempfile", "time", "types",
)  # fmt: skip


def apart(main: str, last: str, source: str) -> tuple[str, str]:
    """Return the script's own parts with names that are not the adapter's."""
    taken: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            taken |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            taken.add(node.name)
        else:
            taken |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    for name in set(re.findall(r"^(?:def|class) (\w+)", main, re.M)) & taken:
        # Neither a member nor an argument's name.
        main, last = (
            re.sub(rf"(?<![.\w]){name}\b(?!=[^=])", f"{name}_", text) for text in (main, last)
        )
    return main, last


def import_line(text: str) -> str:
    """Return the import of what the script's own lines use of the standard library."""
    lines = textwrap.wrap(", ".join(m for m in _MODULES if names_module(m, text)), 90)
    return "\n".join(f"import {line.rstrip(',')}" for line in lines)


def names_module(module: str, text: str) -> bool:
    """Return whether ``text`` names something of a module."""
    return re.search(rf"(?<![\w.]){module}[.]", text) is not None


def imports(module: str, source: str) -> bool:
    """Return whether a module is there under its own name in what ``source`` imports."""
    return re.search(rf"^import {module}(\.|$)|^import .*\b{module}$", source, re.M) is not None
