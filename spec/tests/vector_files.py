"""The form of the vector files on disk: where they are, how they are written and read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["VECTORS", "dump", "each", "load", "write"]

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

_FLAT = re.compile(r"\[\s+([^\[\]{}]{0,88}?)\s+\]")  # a short list of scalars goes on one line
_BREAK = re.compile(r",\s+")


def dump(vector: dict[str, Any]) -> str:
    """Return the text of a vector file: indented, short lists of scalars on one line."""
    text = json.dumps(vector, indent=1, ensure_ascii=True, allow_nan=False)
    return _FLAT.sub(lambda m: "[" + _BREAK.sub(", ", m[1]) + "]", text) + "\n"


def write(name: str, vector: dict[str, Any], root: Path = VECTORS) -> None:
    """Write the file ``name`` (a path below ``root``); refuse one that would read differently."""
    text = dump(vector)
    if json.loads(text) != vector:
        raise ValueError(f"{name} does not survive its own writing")
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def load(path: Path) -> dict[str, Any]:
    """Return the vector of one file."""
    vector: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return vector


def each(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every vector below ``folder`` with its name."""
    for path in sorted((VECTORS / folder).rglob("*.json")):
        yield path.relative_to(VECTORS).as_posix(), load(path)
