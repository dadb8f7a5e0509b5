"""Specialises source text for known facts: decided and unreached code goes (pure).

The same function makes the adapter's and the data's lines of a script. Attributes whose values
are known become constants, decided conditions, tables and empty ``**{}`` go, and so do definitions,
methods and imports that nothing reaches. Comments and annotations are not kept.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Sequence

from midepoch_conformance.scripts.source.fold import Fold, tables_of
from midepoch_conformance.scripts.source.source_tree import (
    FUNCTION,
    Part,
    assigned,
    is_import,
    parsed,
    rename,
)
from midepoch_conformance.scripts.source.unreached import drop_idle, drop_unreached, fill

__all__ = ["Part", "specialise"]


def specialise(
    parts: Sequence[Part],
    roots: Collection[str],
    asked: Collection[str],
    taken: Collection[str] = (),
) -> list[str]:
    """Return the imports that all parts need, and the rest of each part.

    Args:
        parts: the modules. They use each other's names; imports of the suite's modules go.
        roots: the names that are reached from outside.
        asked: the methods that are called from outside.
        taken: names that no foreign part may have; it gets others in their place.

    Example:
        >>> text = '''
        ... def order(w):
        ...     if w.shuffle:
        ...         return {"shuffle": True}
        ...     return {"batch": w.size}
        ... '''
        >>> print(specialise([Part(text, {"w": {"shuffle": False, "size": 4}})], {"order"}, ())[1])
        def order(w):
            return {'batch': 4}
    """
    trees = [parsed(part) for part in parts]
    parts = [_certain(part) for part in parts]
    rename(trees, parts, set(taken))
    reached = {*roots, *(f".{name}" for name in asked)}
    before: list[str] = []
    while True:
        tables = {name: value for tree in trees for name, value in tables_of(tree)}
        for tree, part in zip(trees, parts, strict=True):
            Fold(part, tables).visit(tree)
        drop_idle(trees, parts, asked)
        fill(trees)
        drop_unreached(trees, parts, set(reached))
        after = [ast.dump(tree) for tree in trees]
        if after == before:
            break
        before = after
    imports = [node for tree in trees for node in tree.body if is_import(node)]
    for tree in trees:
        tree.body = [node for node in tree.body if not is_import(node)]
    lines = dict.fromkeys(ast.unparse(node) for node in imports)
    texts = [_spaced(tree) for tree in trees]
    return ["\n".join(sorted(lines, key=lambda line: line.startswith("from"))), *texts]


def _certain(part: Part) -> Part:
    """Return the part without the variables that are assigned: they may be something else."""
    stored = assigned(part)
    facts = {name: known for name, known in part.facts.items() if name not in stored}
    values = {name: value for name, value in part.values.items() if name not in stored}
    return dataclasses.replace(part, facts=facts, values=values)


def _spaced(tree: ast.Module) -> str:
    """Return the source, with blank lines around classes and functions."""
    lines: list[str] = []
    apart = False
    for node in ast.fix_missing_locations(tree).body:
        large = isinstance(node, (ast.ClassDef, *FUNCTION))
        lines += ["", ""] if lines and (large or apart) else []
        lines.append(ast.unparse(node))
        apart = large
    return "\n".join(lines)
