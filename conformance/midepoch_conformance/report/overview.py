"""What a report says, arranged for readers: pages, comments, badges and terminals use it (pure).

Everything is read from the report's own lines; texts that a loader chose are still as they were,
and whoever shows them escapes them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.report.timeline import Drawing, draw
from midepoch_conformance.report.wording import (
    batches_words,
    cell_words,
    count_words,
    loader_title,
    reproduce,
)
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import FAILURES, OUTCOMES, worst

if TYPE_CHECKING:
    from midepoch_conformance.report.file import Report

__all__ = [
    "BREAKING",
    "CaseView",
    "Cell",
    "ClassView",
    "FailureView",
    "KnownView",
    "Overview",
    "Reason",
    "RequirementView",
    "overview",
]

BREAKING = frozenset({*FAILURES, "unstable"})
"""The outcomes that break a claim."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """What a requirement comes to on one kind of workload."""

    kind: str
    outcome: str
    counts: Mapping[str, int]

    @property
    def words(self) -> str:
        """The outcome and its count, such as ``fails silently 3 of 4``."""
        return cell_words(self.outcome, self.counts)


@dataclasses.dataclass(frozen=True)
class RequirementView:
    """One requirement: its sentence, and a cell for each kind of workload that was asked."""

    id: str
    cls: str
    text: str
    outcome: str
    cells: tuple[Cell, ...]
    failures: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class ClassView:
    """One class: its coverage in words, and its requirements."""

    name: str
    title: str
    words: str
    outcome: str
    counts: Mapping[str, int]
    requirements: tuple[RequirementView, ...]


@dataclasses.dataclass(frozen=True)
class FailureView:
    """One failure with its smallest case."""

    number: int
    requirement: str
    cls: str
    outcome: str
    kind: str
    kinds: tuple[str, ...]
    feature: str
    cases: int
    id: str
    case_words: str
    words: str
    expected: str
    got: str
    drawing: Drawing
    script: str
    script_text: str
    note: str

    @property
    def way(self) -> str:
        """The outcome and the way of failing, such as ``fails silently (missing)``."""
        return f"{self.outcome} ({self.kind})" if self.kind else self.outcome


@dataclasses.dataclass(frozen=True)
class KnownView:
    """A failure that was known before.

    ``holds``: it is still there; ``gone``: it is not; neither, where it could not be judged.
    """

    requirement: str
    outcome: str
    kind: str
    words: str
    reason: str
    link: str
    where: str
    holds: bool
    cases: int
    kinds: tuple[str, ...]

    @property
    def gone(self) -> bool:
        """Whether the entry breaks the run: its case could be judged and fails no more."""
        return not self.holds and self.outcome != "error"

    @property
    def way(self) -> str:
        """What its case shows now, such as ``fails silently (missing)``."""
        return f"{self.outcome} ({self.kind})" if self.kind else self.outcome


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why cases were not judged, or were refused: the words, and for whom."""

    words: str
    cases: int
    requirements: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class CaseView:
    """One case; ``found`` are its requirements by outcome, the outcome that decides first."""

    index: int
    id: str
    words: str
    found: tuple[tuple[str, tuple[str, ...]], ...]
    seconds: float


@dataclasses.dataclass(frozen=True)
class Overview:
    """All that is shown of a report.

    Attributes:
        name: the loader and its version.
        verdict: the whole in a sentence.
        status: the exit status of the run.
        header: the report's own.
        command: what makes the report again.
        kinds: the kinds of workload that anything was asked on.
        seconds: how long it took.
    """

    name: str
    verdict: str
    status: int
    header: Mapping[str, Any]
    command: str
    kinds: tuple[str, ...]
    classes: tuple[ClassView, ...]
    failures: tuple[FailureView, ...]
    known: tuple[KnownView, ...]
    reasons: Mapping[str, tuple[Reason, ...]]
    cases: tuple[CaseView, ...]
    seconds: float

    @property
    def requirements(self) -> tuple[RequirementView, ...]:
        """All requirements, class by class."""
        return tuple(one for entry in self.classes for one in entry.requirements)

    @property
    def counts(self) -> Counter[str]:
        """How many requirements come to each outcome."""
        return Counter(one.outcome for one in self.requirements)


def overview(report: Report) -> Overview:
    """Return what ``report``, which has a footer, says.

    Raises:
        ValueError: it has none: what an interrupted run found is not settled.
    """
    footer = report.footer
    if footer is None:
        raise ValueError("a report without its footer has nothing to show")
    failures = tuple(_failure(n, line) for n, line in enumerate(footer["failures"], start=1))
    classes = tuple(_class(entry, footer["requirements"], failures) for entry in footer["classes"])
    asked = {row["kind"] for row in footer["requirements"] if row["outcome"] != "not offered"}
    known = tuple(map(_known, footer["known"]))
    return Overview(
        name=loader_title(report.header["loader"]),
        verdict=_verdict(classes, failures, known, footer),
        status=footer["status"],
        header=report.header,
        command=reproduce(report.header),
        kinds=_in_order(asked, KINDS),
        classes=classes,
        failures=failures,
        known=known,
        reasons=_reasons(report.cases),
        cases=tuple(map(_case, report.cases)),
        seconds=footer["seconds"],
    )


def _in_order(names: Iterable[str], order: Sequence[str]) -> tuple[str, ...]:
    known = {name: i for i, name in enumerate(order)}
    return tuple(sorted(set(names), key=lambda name: (known.get(name, len(known)), name)))


def _class_of(requirement: str) -> str:
    known = requirements.load().get(requirement)
    return known.cls if known else ""


def _text_of(requirement: str) -> str:
    known = requirements.load().get(requirement)
    return known.text if known else "This version of the specification has no such requirement."


def _title_of(cls: str) -> str:
    return next((entry.title for entry in requirements.classes() if entry.name == cls), "")


def _class(
    entry: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], failures: Sequence[FailureView]
) -> ClassView:
    members = []
    for name in entry["requirements"]:
        found = {row["kind"]: row for row in rows if row["requirement"] == name}
        if not found:
            continue
        cells = tuple(
            Cell(kind, found[kind]["outcome"], found[kind]["counts"])
            for kind in _in_order(found, KINDS)
        )
        outcome = worst({cell.outcome: 1 for cell in cells})
        numbers = tuple(f.number for f in failures if f.requirement == name)
        members.append(
            RequirementView(name, entry["name"], _text_of(name), outcome, cells, numbers)
        )
    counts = entry["counts"]
    return ClassView(
        name=entry["name"],
        title=_title_of(entry["name"]),
        words=entry["words"],
        outcome=worst(counts) if counts else "not offered",
        counts={name: counts[name] for name in OUTCOMES if name in counts},
        requirements=tuple(members),
    )


def _failure(number: int, line: Mapping[str, Any]) -> FailureView:
    return FailureView(
        number=number,
        requirement=line["requirement"],
        cls=_class_of(line["requirement"]),
        outcome=line["outcome"],
        kind=line.get("kind", ""),
        kinds=tuple(line["workload_kinds"]),
        feature=line["feature"],
        cases=line["cases"],
        id=line["id"],
        case_words=line["case_words"],
        words=line.get("words", ""),
        expected=batches_words(line.get("expected")),
        got=batches_words(line.get("got")),
        drawing=draw(line["delivered"]),
        script=line["script"] or "",
        script_text=line["script_text"] or "",
        note=line["script_note"],
    )


def _known(line: Mapping[str, Any]) -> KnownView:
    return KnownView(
        requirement=line["requirement"],
        outcome=line["outcome"],
        kind=line.get("kind", ""),
        words=line.get("words", ""),
        reason=line["reason"],
        link=line["link"],
        where=line["where"],
        holds=line["holds"],
        cases=line["cases"],
        kinds=tuple(line["workload_kinds"]),
    )


def _reasons(lines: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Reason, ...]]:
    """Return why cases were refused, blocked, not offered or in error, each reason once."""
    found: dict[str, dict[str, tuple[set[int], set[str]]]] = {}
    for line in lines:
        for finding in line["findings"]:
            if finding["outcome"] in _REASONED:
                words = _shared(finding.get("words") or "no reason is given")
                members = found.setdefault(finding["outcome"], {})
                cases, names = members.setdefault(words, (set(), set()))
                cases.add(line["index"])
                names.add(finding["requirement"])
    order = tuple(requirements.load())
    return {
        outcome: tuple(
            Reason(words, len(cases), _in_order(names, order))
            for words, (cases, names) in sorted(
                found[outcome].items(), key=lambda item: (-len(item[1][0]), item[0])
            )
        )
        for outcome in _REASONED
        if outcome in found
    }


def _shared(words: str) -> str:
    """Return a reason less what it says of its own case: what all share is the cause."""
    cause = re.match(r"[A-Z]+-[0-9]+ fails here(?= \()", words)
    return cause[0] if cause else words


_REASONED = ("error", "refused", "blocked", "not offered")


def _case(line: Mapping[str, Any]) -> CaseView:
    found: dict[str, list[str]] = {}
    for finding in line["findings"]:
        found.setdefault(finding["outcome"], []).append(finding["requirement"])
    ordered = tuple((name, tuple(found[name])) for name in OUTCOMES if name in found)
    return CaseView(line["index"], line["id"], line["words"], ordered, line["seconds"])


def _verdict(
    classes: Sequence[ClassView],
    failures: Sequence[FailureView],
    known: Sequence[KnownView],
    footer: Mapping[str, Any],
) -> str:
    members = [one for entry in classes for one in entry.requirements]
    asked = [one for one in members if one.outcome != "not offered"]
    broken = {failure.requirement for failure in failures}
    if broken:
        verb = "fails" if len(broken) == 1 else "fail"
        return f"{len(broken)} of {count_words(len(asked), 'requirement')} {verb}"
    gone = sum(one.gone for one in known)
    if gone:
        verb = "fails" if gone == 1 else "fail"
        return f"{count_words(gone, 'known failure')} {verb} no more"
    unjudged = sum(not one.holds for one in known)
    if unjudged:
        return f"{count_words(unjudged, 'known failure')} could not be judged"
    errors = sum(entry.counts.get("error", 0) for entry in classes)
    if errors or footer["status"] == 2:
        return f"{count_words(errors, 'case')} could not be judged"
    words = "no MUST fails"
    if known:
        words += f" but for {count_words(len(known), 'known failure')}"
    judged = count_words(len(asked), "requirement")
    was = "was" if len(asked) == 1 else "were"
    return f"{words}; {judged} {was} judged by {count_words(footer['cases'], 'case')}"
