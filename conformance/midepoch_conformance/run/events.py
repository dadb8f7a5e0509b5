"""What a check tells while it runs: typed events that front ends listen to (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.verdict.delivered import Delivered
from midepoch_conformance.verdict.finding import Finding

__all__ = [
    "CaseResult",
    "CasesJudged",
    "Event",
    "Failure",
    "Investigating",
    "Listener",
    "Replaying",
    "Started",
]


@dataclasses.dataclass(frozen=True)
class CaseResult:
    """What came of one case.

    Attributes:
        index: the case's place in its table.
        case: the case.
        findings: one for each requirement that looks at the case.
        reason: why the case is not offered, where it is not.
        seconds: how long its plays took.
    """

    index: int
    case: Case
    findings: tuple[Finding, ...]
    reason: str | None = None
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Failure:
    """One thing that is wrong with a loader: a requirement, a workload kind, its smallest case.

    Attributes:
        finding: what the smallest case showed.
        workload_kinds: the kinds of workload that fail so; its case is of the first.
        case: the smallest failing case.
        words: that case in words.
        cases: how many cases of the table failed in this way.
        shrunk: how many plays it took to shrink the case; 0 where it was not shrunk.
        script: the path of the stand-alone script, where there is one.
        script_note: why there is no script, or that it did not show the failure by itself.
        script_text: the script itself.
        feature: what is special about the workloads that fail so, in a word or two.
        delivered: what one more play of the case delivered.
    """

    finding: Finding
    workload_kinds: tuple[str, ...]
    case: Case
    words: str
    cases: int = 1
    shrunk: int = 0
    script: str | None = None
    script_note: str = ""
    script_text: str | None = None
    feature: str = ""
    delivered: Delivered | None = None


@dataclasses.dataclass(frozen=True)
class Started:
    """The loader answered and passed the smoke gate; ``cases`` cases follow.

    ``done`` of them were judged by a run that this one goes on with.
    """

    header: Mapping[str, Any]
    cases: int
    done: int = 0


@dataclasses.dataclass(frozen=True)
class Replaying:
    """The case of a known failure is replayed."""

    requirement: str
    link: str
    number: int
    entries: int


@dataclasses.dataclass(frozen=True)
class CasesJudged:
    """One more case was judged; ``done`` cases are, in whatever order they ended."""

    result: CaseResult
    done: int
    cases: int


@dataclasses.dataclass(frozen=True)
class Investigating:
    """A failure's smallest case is looked for, or its script is written and run: ``doing``."""

    requirement: str
    workload_kind: str
    number: int
    failures: int
    doing: str = ""


Event = Started | Replaying | CasesJudged | Investigating
Listener = Callable[[Event], None]
