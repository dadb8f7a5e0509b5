"""The verdict on a loader, its classes, and reasons: everything that is counted (pure).

All of it is a function of a report. Texts that a loader chose are still unescaped here; the
page, the comment, the badges and the terminal escape them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.report.document import Class, Document, Row
from midepoch_conformance.text import counted
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import worst

__all__ = [
    "ClassView",
    "Reason",
    "RequirementView",
    "class_views",
    "failing_requirements",
    "kinds",
    "reasons",
    "verdict",
]


@dataclasses.dataclass(frozen=True)
class RequirementView:
    """A requirement: a row for each kind of workload that was asked."""

    id: str
    rows: tuple[Row, ...]
    failures: tuple[int, ...] = ()
    """The numbers of its failures in the report, from 1."""

    @property
    def outcome(self) -> str:
        """The outcome that decides."""
        return worst({row.outcome: 1 for row in self.rows})

    @property
    def text(self) -> str:
        """The requirement's sentence."""
        known = requirements.load().get(self.id)
        return known.text if known else "This version of the specification has no such requirement."


@dataclasses.dataclass(frozen=True)
class ClassView:
    """A class with the requirements that have a row."""

    entry: Class
    requirements: tuple[RequirementView, ...]

    @property
    def title(self) -> str:
        """The class in a few words, as the specification has it."""
        found = (one.title for one in requirements.classes() if one.name == self.entry.name)
        return next(found, "")

    @property
    def outcome(self) -> str:
        """The outcome that decides."""
        return worst(self.entry.counts) if self.entry.counts else "not offered"


@dataclasses.dataclass(frozen=True)
class Reason:
    """A reason why cases were not judged, or were refused."""

    words: str
    cases: int
    requirements: tuple[str, ...]


def class_views(document: Document) -> tuple[ClassView, ...]:
    """Return the classes of a report, in the specification's order."""
    footer = document.footer
    rows: dict[str, list[Row]] = {}
    for row in footer.requirements:
        rows.setdefault(row.requirement, []).append(row)
    numbers: dict[str, list[int]] = {}
    for number, failure in enumerate(footer.failures, start=1):
        numbers.setdefault(failure.requirement, []).append(number)

    def view(name: str) -> RequirementView:
        found = {row.kind: row for row in rows[name]}
        ordered = tuple(found[kind] for kind in _in_order(found, KINDS))
        return RequirementView(name, ordered, tuple(numbers.get(name, ())))

    return tuple(
        ClassView(entry, tuple(view(name) for name in entry.requirements if name in rows))
        for entry in footer.classes
    )


def kinds(document: Document) -> tuple[str, ...]:
    """Return the kinds of workload on which the loader offers anything."""
    rows = document.footer.requirements
    return _in_order({row.kind for row in rows if row.outcome != "not offered"}, KINDS)


def failing_requirements(document: Document) -> list[str]:
    """Return the requirements that fail, known failures left out."""
    return sorted({failure.requirement for failure in document.footer.failures})


def verdict(document: Document) -> str:
    """Return the verdict on the loader in a sentence."""
    footer = document.footer
    outcomes = _outcomes(document)
    broken = len(failing_requirements(document))
    errors = sum(any(f.outcome == "error" for f in case.findings) for case in document.cases)
    unjudged = sum(one.outcome == "error" for one in footer.known)
    if broken:
        verb = "fails" if broken == 1 else "fail"
        words = f"{broken} of {counted(outcomes.total(), 'requirement')} {verb}"
    elif errors:
        words = f"{counted(errors, 'case')} could not be judged"
    elif unjudged:
        words = f"{counted(unjudged, 'known failure')} could not be judged"
    elif outcomes:
        words = _holding(document, outcomes)
    else:
        words = _nothing(document)
    gone = sum(one.gone for one in footer.known)
    if gone:
        verb = "fails" if gone == 1 else "fail"
        words += f"; {counted(gone, 'known failure')} no longer {verb}"
    return words


def reasons(document: Document) -> dict[str, tuple[Reason, ...]]:
    """Return why cases were refused, blocked, not offered or in error, each reason once.

    Cases that fail only while other cases run have a reason as well, although they pass.
    """
    found: dict[str, dict[str, tuple[set[int], set[str]]]] = {}
    for case in document.cases:
        for finding in case.findings:
            sort = COMPANY if finding.kind == "company" else finding.outcome
            if sort in _REASONED:
                words = _shared(finding.words or "no reason is given")
                members = found.setdefault(sort, {})
                cases, names = members.setdefault(words, (set(), set()))
                cases.add(case.index)
                names.add(finding.requirement)
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


COMPANY = "only in company"
"""The sort of findings that fail only while other cases run; they pass."""

_REASONED = ("error", "refused", "blocked", "not offered", COMPANY)


def _shared(words: str) -> str:
    """Return a reason without the details of its case, so that equal causes are one reason."""
    cause = re.match(r"[A-Z]+-[0-9]+ fails here(?= \()", words)
    return cause[0] if cause else words


def _outcomes(document: Document) -> Counter[str]:
    """Return the number of requirements by outcome; those that are not offered are left out."""
    found = (one.outcome for view in class_views(document) for one in view.requirements)
    return Counter(outcome for outcome in found if outcome != "not offered")


def _holding(document: Document, outcomes: Counter[str]) -> str:
    """Return how many requirements hold, and by how many cases.

    All failures are known ones here: the caller has handled any other failure.
    """
    words = f"{outcomes['pass']} of {counted(outcomes.total(), 'requirement')}"
    words += " holds" if outcomes.total() == 1 else " hold"
    known = sum(one.holds for one in document.footer.known)
    rest = [counted(known, "known failure")] if known else []
    rest += [f"{outcomes[name]} {name}" for name in ("refused", "blocked") if outcomes[name]]
    if rest:
        words += f", with {' and '.join(rest)}"
    judged = sum(case.not_offered is None for case in document.cases)
    left = len(document.cases) - judged
    if left:
        own = document.header.loader.function
        why = "do not apply to a make_loader function" if own else "not offered"
        return f"{words} ({counted(judged, 'case')}; {left:,} {why})"
    return f"{words} ({counted(judged, 'case')})"


def _nothing(document: Document) -> str:
    """Return why nothing could be judged: a reason of the adapter's own, or the most common one."""
    found = [one for members in reasons(document).values() for one in members]
    own = set(document.header.loader.reasons.values())
    best = max(found, key=lambda one: (one.words in own, one.cases), default=None)
    return "nothing could be judged" + (f": {best.words}" if best else "")


def _in_order(names: Iterable[str], order: Sequence[str]) -> tuple[str, ...]:
    known = {name: i for i, name in enumerate(order)}
    return tuple(sorted(set(names), key=lambda name: (known.get(name, len(known)), name)))
