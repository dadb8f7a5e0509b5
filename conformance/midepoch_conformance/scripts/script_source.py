"""Where the lines of an adapter come from that a failure's script holds."""

from __future__ import annotations

import ast
from pathlib import Path

from midepoch_conformance.case.adapter import LoaderInfo

__all__ = ["adapter_source", "split_futures"]


def adapter_source(info: LoaderInfo) -> str:
    """Return the source of the adapter's module, its docstring left out.

    A ``make_loader`` function is imported in its place.
    """
    folder = f"import sys\n\nsys.path.insert(0, {str(Path(info.file).parent)!r})"
    if info.function:
        return f"{folder}\nfrom {info.module} import {info.attribute}"
    source = _file(info).read_text(encoding="utf-8")
    body = ast.parse(source).body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    # Comments between the docstring and the first statement speak of the file, not of the loader.
    first = body[documented] if len(body) > documented else body[0]
    start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    text = "\n".join(source.splitlines()[start - 1 :]).strip("\n")
    if info.module.startswith("midepoch_conformance."):
        return text
    futures, rest = split_futures(text)
    # What lies beside a user's adapter is importable, as the suite makes it.
    return "\n".join([*futures, folder, rest])


def split_futures(source: str) -> tuple[list[str], str]:
    """Return the imports from ``__future__``, which must come first, and the rest.

    Example:
        >>> split_futures("from __future__ import annotations\\nimport os")
        (['from __future__ import annotations'], 'import os')
    """
    lines = source.splitlines()
    found = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    futures = [" ".join(f"from __future__ import {a.name}" for a in node.names) for node in found]
    for node in reversed(found):
        del lines[node.lineno - 1 : node.end_lineno]
    return futures, "\n".join(lines).strip("\n")


def _file(info: LoaderInfo) -> Path:
    """Return the adapter's file; built-in ones lie here, under whatever path the host saw them."""
    package, _, rest = info.module.partition(".")
    if package == "midepoch_conformance":
        return Path(__file__).parents[1] / f"{rest.replace('.', '/')}.py"
    return Path(info.file)
