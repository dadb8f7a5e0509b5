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
from midepoch_conformance.host.function_adapter import ALONE
from midepoch_conformance.report.document import Class, Document, Row
from midepoch_conformance.report.wording import not_offered_words
from midepoch_conformance.run.summary import SORTS, WITH_WORKERS
from midepoch_conformance.text import counted
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import worst
from midepoch_conformance.verdict.results import RESUMING

__all__ = [
    "ClassView",
    "Reason",
    "RequirementView",
    "advice",
    "class_views",
    "failing_requirements",
    "kinds",
    "left_out",
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

    @property
    def offered(self) -> tuple[RequirementView, ...]:
        """The requirements that the loader claims on any kind of workload."""
        return tuple(one for one in self.requirements if one.outcome != "not offered")

    @property
    def left_out(self) -> tuple[str, ...]:
        """The ids of the others."""
        return tuple(one.id for one in self.requirements if one.outcome == "not offered")


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
        ClassView(
            _of_function(entry) if document.header.loader.function else entry,
            tuple(view(name) for name in entry.requirements if name in rows),
        )
        for entry in footer.classes
    )


def _of_function(entry: Class) -> Class:
    """Return the class without its count of cases that no function can offer."""
    return dataclasses.replace(entry, words=re.sub(r"(^|, )\d+ not offered$", "", entry.words))


def left_out(document: Document) -> tuple[str, ...]:
    """Return the names of the classes of which the loader claims nothing."""
    return tuple(view.entry.name for view in class_views(document) if not view.offered)


def kinds(document: Document) -> tuple[str, ...]:
    """Return the kinds of workload on which the loader offers anything."""
    rows = document.footer.requirements
    return _in_order({row.kind for row in rows if row.outcome != "not offered"}, KINDS)


def failing_requirements(document: Document) -> list[str]:
    """Return the requirements that fail, known failures left out."""
    return sorted({failure.requirement for failure in document.footer.failures})


def verdict(document: Document) -> str:
    """Return the verdict on the loader in a sentence."""
    if document.stopped:
        return _so_far(document)
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
    elif footer.unjudged:
        words = _unjudged(document, outcomes)
    else:
        words = _holding(document, outcomes)
    if footer.unjudged and (broken or errors or unjudged):
        words += f"; {_not_judged(document, reasoned=False)}"
    gone = sum(one.gone for one in footer.known)
    if gone:
        verb = "fails" if gone == 1 else "fail"
        words += f"; {counted(gone, 'known failure')} no longer {verb}"
    return words


def _so_far(document: Document) -> str:
    """Return what a run shows that was stopped: no verdict, but what has failed has failed."""
    cases = document.header.offered
    of = f" of {cases:,}" if cases is not None else ""
    words = f"not finished: {_played(document):,}{of} cases were judged"
    broken = len(failing_requirements(document))
    if broken:
        verb = "fails" if broken == 1 else "fail"
        return f"{words}, and {counted(broken, 'requirement')} {verb} already"
    return f"{words}, and none fails so far"


def reasons(document: Document) -> dict[str, tuple[Reason, ...]]:
    """Return why cases were refused, blocked, not offered or in error, each reason once.

    Cases that fail only while other cases run have a reason as well, although they pass.
    """
    own, stateless = document.header.loader.function, document.header.loader.reasons.get("saves")
    found: dict[str, dict[str, tuple[set[int], set[str]]]] = {}
    for case in document.cases:
        for finding in case.findings:
            sort = COMPANY if finding.kind == "company" else finding.outcome
            if sort in _REASONED:
                words = _shared(finding.words or "no reason is given")
                # A case that was played has a reason of the loader's own, such as its error.
                if own and case.not_offered is not None and words != stateless:
                    words = _FUNCTION
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


_FUNCTION = "they need data of the suite's own, which an adapter can offer and a function cannot"

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
    judged = _played(document)
    left = len(document.cases) - judged
    if left:
        why = not_offered_words(document.header.loader)
        return f"{words} ({counted(judged, 'case')}; {left:,} {why})"
    return f"{words} ({counted(judged, 'case')})"


def _unjudged(document: Document, outcomes: Counter[str]) -> str:
    """Return what was asked and not judged, and what was judged beside it."""
    words = _not_judged(document)
    if not outcomes["pass"]:
        return words
    verb = "holds" if outcomes["pass"] == 1 else "hold"
    if WITH_WORKERS in document.footer.unjudged:
        played = counted(_played(document, workers=False), "case")
        held = counted(outcomes["pass"], "requirement")
        return f"{words}; {held} {verb} without workers ({played})"
    played = counted(_played(document), "case")
    return f"{words}; {counted(outcomes['pass'], 'other requirement')} {verb} ({played})"


def _not_judged(document: Document, reasoned: bool = True) -> str:
    """Return what was asked and not judged, with a reason: the adapter's, or the most common."""
    loader, missing = document.header.loader, document.footer.unjudged
    names = [name for name in missing if name not in SORTS]
    sorts = [name for name in missing if name in SORTS]
    if not names:
        return "; ".join(_no_run(document, name, reasoned) for name in sorts)
    resuming = RESUMING in names
    asked = requirements.load() if resuming else _members(names)
    found: Counter[tuple[bool, str]] = Counter()
    for case in document.cases:
        if resuming and not case.loads:
            continue
        for finding in case.findings:
            if finding.requirement in asked and finding.outcome in _REASONED:
                words = _shared(finding.words or "no reason is given")
                unplayed = case.not_offered is not None
                if unplayed and loader.function and words not in loader.reasons.values():
                    words = ALONE
                found[finding.outcome != "not offered", words] += 1
    own = loader.reasons
    stateless = own.get("saves") if resuming or loader.function else None
    stated = [words for _, words in found if words == stateless]
    if resuming and "saves" in own and not any(case.loads for case in document.cases):
        stated.append(own["saves"])
    # A failed requirement explains more than the cases that the loader never offered.
    stated += [words for (played, words), _ in found.most_common() if played]
    stated += [words for _, words in found if words in own.values()]
    stated += [words for (_, words), _ in found.most_common(1)]
    if resuming:
        words = "nothing about resuming could be judged"
    else:
        words = f"{', '.join(names)} {'was' if len(names) == 1 else 'were'} judged by no case"
    if not document.cases:
        return f"{words}: no case was played"
    words = f"{words}: {stated[0]}" if stated and reasoned else words
    for sort in sorts:
        told = stated[:1] == _failed_runs(document, sort)[:1]
        words += f"; {_no_run(document, sort, reasoned and not told)}"
    return words


def _no_run(document: Document, sort: str, reasoned: bool) -> str:
    """Return that no case with a sort of runs was judged, with the error of these runs."""
    words = f"no {sort.replace('runs', 'run', 1)} could be judged"
    found = _failed_runs(document, sort)
    return f"{words}: {found[0]}" if found and reasoned else words


def _failed_runs(document: Document, sort: str) -> list[str]:
    """Return why uninterrupted runs of a sort gave no verdict, the most common error first."""
    found = Counter(
        finding.words
        for case in document.cases
        if SORTS[sort](case.case["sessions"][0]["execution"])
        for finding in case.findings
        if finding.kind == "oracle"
    )
    return [words for words, _ in found.most_common()]


def _members(names: Sequence[str]) -> frozenset[str]:
    known = requirements.load().values()
    return frozenset(one.id for one in known if one.id in names or one.cls in names)


def _played(document: Document, workers: bool = True) -> int:
    cases = (case for case in document.cases if case.not_offered is None)
    return sum(workers or not case.has_workers for case in cases)


def advice(document: Document) -> tuple[tuple[str, str], ...]:
    """Return what to do about the cases that were not judged, and what it costs, with titles."""
    loader, footer = document.header.loader, document.footer
    if list(footer.unjudged) == [WITH_WORKERS]:
        none = "let the function ignore num_workers" if loader.function else 'offer "workers": (0,)'
        return (
            (
                "what to do",
                f"Mend that error, which a run with num_workers=1 shows. If the loader has no "
                f"workers, {none}.",
            ),
        )
    if len(footer.unjudged) == 1 and footer.unjudged[0] in SORTS:
        return (("what to do", f"Mend that error, or do not offer {footer.unjudged[0]}."),)
    if not _lacks_states(document):
        return ()
    cost = (
        "A run that stops and restarts begins its epoch again: it repeats the samples that it had, "
        "draws other random numbers, and no error tells you."
    )
    to_do = (
        "Give the loader both methods, or return one that has them, such as "
        "midepoch.StatefulDataLoader in the place of torch's DataLoader. If your program keeps its "
        "place in another way, write an adapter."
        if loader.function
        else "If the position can be kept in any way, let the adapter's session return it from "
        "state() and take it in load(). Name the moments in the offer: "
        '"saves": ("start", "mid", "end").'
    )
    return ("what it costs", cost), ("what to do", to_do)


def _lacks_states(document: Document) -> bool:
    """Return whether something was not judged because the loader has no states."""
    loader, missing = document.header.loader, document.footer.unjudged
    why = loader.reasons.get("saves")
    if why is None or RESUMING in missing:
        return why is not None
    if not loader.function:  # an adapter's reason may be about some states alone
        return False
    asked = _members(missing)
    return any(
        finding.requirement in asked and finding.words == why
        for case in document.cases
        for finding in case.findings
    )


def _in_order(names: Iterable[str], order: Sequence[str]) -> tuple[str, ...]:
    known = {name: i for i, name in enumerate(order)}
    return tuple(sorted(set(names), key=lambda name: (known.get(name, len(known)), name)))
