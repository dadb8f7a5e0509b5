"""A script's comparison: its expressions, and the functions that write their parts (pure).

The expressions are Python's, on ``seen``: the records of each session's steps.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.verdict.evidence import UNINTERRUPTED

__all__ = ["Comparison", "flat", "said", "seen"]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A script's comparison."""

    expected: str
    """The expression that is printed as expected."""

    got: str
    """The expression that is printed as got."""

    shows: str = "got != expected"
    """The expression that tells whether the failure shows."""

    looks: tuple[str, ...] = ()
    """The looks after each step: the names of functions ``look_NAME`` in rare.py."""

    case: Case | None = None
    """The case that the script plays, if it is another one."""


def seen(session: int, step: int = 0) -> str:
    """Return the expression for the records of a session's steps, from a step on."""
    name = "whole" if session == UNINTERRUPTED else session + 1
    return f'seen["{name}"]{f"[{step}:]" if step else ""}'


def said(text: str) -> str:
    """Return the expression for a printed text."""
    return f'"{text}"'


def flat(batches: Any) -> Any:
    """Return batches as a script has them: a row of one number is that number."""
    if not isinstance(batches, list):
        return batches
    return [[row[0] if len(row) == 1 else row for row in batch] for batch in batches]
