"""The results of a check: of each case, of each failure, and of the run as a whole (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.words import sort_of
from midepoch_conformance.verdict.delivered import Delivered
from midepoch_conformance.verdict.finding import FAILURES, Finding, Result
from midepoch_conformance.verdict.measured import Measured

__all__ = [
    "BREAKING",
    "RESUMING",
    "CaseResult",
    "Check",
    "ClassRow",
    "Facts",
    "Failure",
    "Known",
    "Replayed",
    "Summary",
    "changed_words",
    "failing",
]

BREAKING = frozenset({*FAILURES, "unstable"})
"""The outcomes that break a claim."""

RESUMING = "resuming"
"""In the place of a requirement that was not judged: everything for which a state is loaded."""


def failing(finding: Finding) -> bool:
    """Return whether ``finding`` breaks a claim.

    Example:
        >>> failing(Finding("RESUME-1", "unstable")), failing(Finding("RESUME-1", "refused"))
        (True, False)
    """
    return finding.outcome in BREAKING


def changed_words(where: str, requirement: str, link: str, outcome: str, words: str) -> str:
    """Return why an entry does not hold, from its place and its case's finding now.

    Example:
        >>> changed_words("known.toml, entry 1", "RESUME-1", "https://a.b", "pass", "")
        'known.toml, entry 1: RESUME-1 passes now: delete the entry (https://a.b)'
    """
    head = f"{where}: {requirement}"
    if outcome == "pass":
        return f"{head} passes now: delete the entry ({link})"
    if outcome == "error":
        return f"{head} could not be judged: {words}"
    return f"{head} is {outcome} now, which is no failure: delete the entry ({link}); {words}"


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts of a run that are known before its first case: the loader, and what is asked of it."""

    loader: str
    """The loader as the user named it."""
    info: LoaderInfo
    """The loader as it described itself."""
    profile: str
    """``quick``, ``full`` or ``explore``."""
    only: frozenset[str] | None
    """The requirements that the user asked about; None for all."""
    started: str
    """The time at which the run began, in ISO 8601."""
    table: str | None = None
    """The digest of the table of cases; None if cases are drawn without end."""
    cases: int | None = None
    """The number of cases; None if they are drawn without end."""
    offered: int | None = None
    """How many of these cases the loader offers; None if they are drawn without end."""
    drawn: Mapping[str, Any] | None = None
    """How cases were drawn beside the table's, if any were."""
    seed: int | None = None
    """The seed of ``explore``."""
    options: tuple[str, ...] = ()
    """The further options of the command line, word by word."""


@dataclasses.dataclass(frozen=True)
class CaseResult:
    """The result of one case."""

    index: int
    """The case's place in its table."""
    case: Case
    findings: tuple[Finding, ...]
    """One finding for each requirement that looks at the case."""
    reason: str | None = None
    """Why the loader does not offer the case; None if the case was played."""
    seconds: float = 0.0
    """How long its plays took."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """One failure of a loader: a requirement, a kind of workload and its smallest case."""

    finding: Finding
    """The finding on the smallest case."""
    workload_kinds: tuple[str, ...]
    """The kinds of workload that fail in this way; the case is of the first."""
    case: Case
    """The smallest failing case."""
    words: str
    """That case in words."""
    cases: int = 1
    """How many cases of the table failed in this way."""
    shrunk: int = 0
    """How many plays it took to shrink the case; 0 if it was not shrunk."""
    script: str | None = None
    """The path of the stand-alone script, if there is one."""
    script_note: str = ""
    """Why there is no script, or that the script did not show the failure."""
    script_text: str | None = None
    """The script itself."""
    feature: str = ""
    """The unusual features of the case's workload, in a word or two."""
    also: tuple[str, ...] = ()
    """The other unusual features with which workloads fail in this way."""
    delivered: Delivered | None = None
    """The batches that one more play of the case delivered."""
    worst: str = ""
    """The case that goes most wrong in this way, in words; empty if the smallest one does."""
    stacks: str = ""
    """Where the processes stood, as ``faulthandler`` tells it, if the case hangs."""


@dataclasses.dataclass(frozen=True)
class Known:
    """An entry of a file of known failures."""

    requirement: str
    """The requirement that fails."""
    link: str
    """The address of the page that describes the failure."""
    reason: str
    """Why the failure is accepted for now."""
    case: Case
    """A case that shows it."""
    where: str = ""
    """The entry's file and number, for messages."""


@dataclasses.dataclass(frozen=True)
class Replayed:
    """A known failure whose case was played again."""

    entry: Known
    finding: Finding
    """The finding on the entry's case now."""
    cases: int = 0
    """How many cases of the run fail as the entry says."""
    workload_kinds: tuple[str, ...] = ()
    """Their kinds of workload."""

    @property
    def holds(self) -> bool:
        """Whether the case still fails."""
        return failing(self.finding)

    @property
    def broken(self) -> bool:
        """Whether the entry breaks the run: its case could be judged and no longer fails."""
        return not self.holds and self.finding.outcome != "error"

    @property
    def words(self) -> str:
        """Why the entry does not hold, in a sentence."""
        entry, found = self.entry, self.finding
        return changed_words(entry.where, entry.requirement, entry.link, found.outcome, found.words)

    def covers(self, case: Case, finding: Finding) -> bool:
        """Return whether a failure of the run is this known one.

        Both have the same requirement and the same sort of workload. A known failure with an
        error message never covers a silent one.
        """
        if not self.holds or finding.requirement != self.entry.requirement:
            return False
        if finding.outcome == "fails silently" and self.finding.outcome == "fails":
            return False
        return sort_of(case) == sort_of(self.entry.case)


@dataclasses.dataclass(frozen=True)
class ClassRow:
    """A class: its requirements and its coverage, such as ``exact 38 of 43, 5 not offered``."""

    name: str
    requirements: tuple[str, ...]
    words: str
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Summary:
    """All rows, in the specification's order."""

    rows: tuple[Result, ...]
    classes: tuple[ClassRow, ...]

    @property
    def errors(self) -> int:
        """The number of findings that are errors of the suite, the environment or the adapter."""
        return sum(row.counts.get("error", 0) for row in self.rows)


@dataclasses.dataclass(frozen=True)
class Check:
    """The results of a whole run, from which its report is made."""

    facts: Facts
    results: list[CaseResult]
    summary: Summary
    failures: list[Failure]
    seconds: float = 0.0
    known: list[Replayed] = dataclasses.field(default_factory=list)
    unjudged: tuple[str, ...] = ()
    """The requirements and classes that the user named and no case judged; :data:`RESUMING` if
    nothing was named and no case judged a resume."""
    measured: Measured | None = None
    """What states and resumes cost, if the user asked."""

    @property
    def status(self) -> int:
        """The exit status: 1 if a MUST fails, 2 if something could not be judged, else 0.

        A known failure does not count, unless it no longer fails.
        """
        if self.failures or any(replayed.broken for replayed in self.known):
            return 1
        judged = all(replayed.holds for replayed in self.known)
        return 2 if self.summary.errors or self.unjudged or not judged else 0
