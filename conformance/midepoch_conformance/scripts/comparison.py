"""What a script compares: the expressions, and the small words that they are made of (pure).

The expressions are Python's, of ``seen``: what the steps of each session showed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.verdict.evidence import UNINTERRUPTED

__all__ = ["Comparison", "flat", "said", "seen"]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What a script compares."""

    expected: str
    """The expression that is printed as expected."""

    got: str
    """The expression that is printed as got."""

    shows: str = "got != expected"
    """The expression that tells whether the failure shows."""

    looks: tuple[str, ...] = ()
    """What is looked at after each step: functions ``look_NAME`` of rare.py."""

    case: Case | None = None
    """The case as it is played, where that is another one."""


def seen(session: int, step: int = 0) -> str:
    """Return the expression of what a session's steps showed, from a step on."""
    name = "whole" if session == UNINTERRUPTED else session + 1
    return f'seen["{name}"]{f"[{step}:]" if step else ""}'


def said(text: str) -> str:
    """Return the expression of a text that is printed."""
    return f'"{text}"'


def flat(batches: Any) -> Any:
    """Return batches as a script has them: a row of one number is that number."""
    if not isinstance(batches, list):
        return batches
    return [[row[0] if len(row) == 1 else row for row in batch] for batch in batches]
