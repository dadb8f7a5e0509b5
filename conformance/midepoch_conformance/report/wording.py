"""Parts of sentences that pages, comments, badges and terminals share (pure)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from midepoch_conformance.text import clipped, printable

__all__ = ["batches_words", "cell_words", "count_words", "loader_title", "reproduce"]

_BATCHES, _VALUE = 12, 1200
"""So many batches of a difference are written out, and characters of any other value."""


def loader_title(loader: Mapping[str, Any]) -> str:
    """Return a loader's name and version."""
    return f"{loader['name']} {loader['version']}".strip()


def reproduce(header: Mapping[str, Any]) -> str:
    """Return the command that judges the same by the same cases.

    Example:
        >>> reproduce({"loader": {"spec": "my own.py:A"}, "profile": "full", "only": ["COST-1"]})
        "midepoch check 'my own.py:A' --profile full --only COST-1"
    """
    spec = header["loader"]["spec"]
    if header["profile"] == "explore":
        words = ["midepoch", "explore", spec, "--seed", str(header.get("seed", 0))]
    else:
        words = ["midepoch", "check", spec, "--profile", header["profile"]]
    if header["only"]:
        words += ["--only", ",".join(header["only"])]
    return shlex.join(words)


def cell_words(outcome: str, counts: Mapping[str, int]) -> str:
    """Return an outcome with how many of the judged cases come to it.

    Example:
        >>> cell_words("fails", {"fails": 1, "pass": 3, "not offered": 2})
        'fails 1 of 4'
        >>> cell_words("pass", {"pass": 4})
        'pass 4'
    """
    if outcome == "not offered":
        return outcome
    asked = sum(n for name, n in counts.items() if name != "not offered")
    count = counts.get(outcome, 0)
    return f"{outcome} {count}" if count == asked else f"{outcome} {count} of {asked}"


def count_words(n: int, noun: str) -> str:
    """Return a number of things.

    Example:
        >>> count_words(1, "case"), count_words(1500, "batch")
        ('1 case', '1,500 batches')
    """
    plural = f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def batches_words(value: Any) -> str:
    """Return what was expected, or what came, on one line.

    Batches of rows show their ids, or whole rows where samples draw; all else is as JSON.

    Example:
        >>> batches_words([[[0], [1]], [[2]]]), batches_words([[[0, 0.25]]])
        ('[0 1] [2]', '[(0, 0.25)]')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return clipped(printable(value), _VALUE)
    if not _are_batches(value):
        return clipped(printable(json.dumps(value, ensure_ascii=False)), _VALUE)
    shown = [f"[{' '.join(map(_row, batch))}]" for batch in value[:_BATCHES]]
    more = len(value) - len(shown)
    text = " ".join(shown) or "nothing"
    return clipped(printable(text), _VALUE) + (f" and {more} more" if more > 0 else "")


def _are_batches(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(batch, list) and all(isinstance(row, list) and row for row in batch)
        for batch in value
    )


def _row(row: Sequence[Any]) -> str:
    values = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in row]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"
