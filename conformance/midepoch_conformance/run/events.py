"""The events of a running check, which front ends and the report's file listen to (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from midepoch_conformance.verdict.results import CaseResult, Check, Facts

__all__ = ["CasesJudged", "Event", "Found", "Investigating", "Listener", "Replaying", "Started"]


@dataclasses.dataclass(frozen=True)
class Started:
    """The loader answered and passed the smoke gate, or a further round of cases was drawn."""

    facts: Facts
    cases: int
    """The number of cases that the loader offers, those of earlier rounds included."""
    done: int = 0
    """How many of them are judged already: by an interrupted run, or in earlier rounds."""


@dataclasses.dataclass(frozen=True)
class Replaying:
    """The case of a known failure is played again."""

    requirement: str
    link: str
    number: int
    entries: int


@dataclasses.dataclass(frozen=True)
class CasesJudged:
    """The result of one more case is known, and whether the loader offers it."""

    result: CaseResult
    done: int
    """How many cases are judged, those that are not offered left out."""
    cases: int
    """The number of cases that the loader offers."""


@dataclasses.dataclass(frozen=True)
class Investigating:
    """A failure's smallest case is searched for, or its script is written and run."""

    requirement: str
    workload_kind: str
    number: int
    failures: int
    doing: str = ""
    """The current activity, in words."""


@dataclasses.dataclass(frozen=True)
class Found:
    """All cases are judged and the failures are known; their scripts are not written yet."""

    check: Check


Event = Started | Replaying | CasesJudged | Investigating | Found
Listener = Callable[[Event], None]
