"""The cells of the matrix: a word for each class of a report, and how much was judged (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from midepoch_conformance.report import overview
from midepoch_conformance.report.document import Document, Failure, Known
from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.overview import Reason
from midepoch_conformance.report.timeline import draw
from midepoch_conformance.text import counted
from midepoch_conformance.verdict.requirements import load

__all__ = ["MEANINGS", "NOT_ASKED", "Cell", "cells_of", "class_of", "drawing", "word"]

MEANINGS = {
    "silently wrong": "batches were wrong, repeated or missing, and no error told you",
    "hangs": "the run never went on",
    "crashes": "the run ended by an error that is no refusal, or its process died",
    "fails": "the loader broke a requirement in another way, such as a cost that grows",
    "unstable": "the loader failed, but not in each of three plays",
    "not judged": "the suite, the environment or the adapter was at fault",
    "refuses": "the loader raised a proper error instead of resuming",
    "exact": "the loader did what the requirements say in all cases that could be judged",
    "blocked": "a requirement that these depend on failed already",
    "not offered": "the loader does not claim to do it",
}
"""The words of cells with their meanings, what users suffer most first; the first one decides."""

NOT_ASKED = "not asked"
"""The word of a class that the run left out."""

_WORDS = {
    "fails silently": "silently wrong",
    "error": "not judged",
    "refused": "refuses",
    "pass": "exact",
}
_KINDS = {
    "hang": "hangs",
    "refusal": "refuses",
    **dict.fromkeys(
        ("crash", "late error", "bare error", "error", "codec", "save", "close"), "crashes"
    ),
}
_UNJUDGED = ("not judged", "blocked", "not offered")


def word(outcome: str, kind: str = "") -> str:
    """Return the word for a finding.

    Example:
        >>> word("fails silently", "missing"), word("fails", "late error"), word("fails", "cost")
        ('silently wrong', 'crashes', 'fails')
    """
    if outcome == "fails":
        return _KINDS.get(kind, "fails")
    return _WORDS.get(outcome, outcome)


@dataclasses.dataclass(frozen=True)
class Cell:
    """A class of requirements in a row."""

    name: str
    """The class."""
    word: str = NOT_ASKED
    """The word that decides."""
    cases: int = 0
    """The cases that have it."""
    judged: int = 0
    """The cases in which the class was judged."""
    left: int = 0
    """The class's other cases: those that were blocked, not offered or in error."""
    failures: tuple[tuple[int, Failure], ...] = ()
    """Its failures, each with its number in the report; the first is among the worst ones, and
    drawn if any of these is."""
    known: tuple[Known, ...] = ()
    """Its known failures that hold."""
    reasons: tuple[tuple[str, Reason], ...] = ()
    """Why cases were refused or not judged, by word."""

    @property
    def told(self) -> str:
        """How much was judged.

        Example:
            >>> Cell("Resume", "silently wrong", 3, 38, 5).told, Cell("Cost", "exact", 4, 4).told
            ('3 of 38 cases, 5 not judged', '4 cases')
        """
        if self.word == NOT_ASKED:
            return ""
        if self.word in _UNJUDGED:
            return counted(self.cases, "case")
        words = counted(self.judged, "case")
        if self.word != "exact":
            words = f"{self.cases:,} of {words}"
        return f"{words}, {self.left:,} not judged" if self.left else words

    @property
    def opened(self) -> bool:
        """Whether the cell has a part of its own in the row's section."""
        return self.word not in ("not offered", NOT_ASKED)


def drawing(failure: Failure) -> str:
    """Return the drawing of a failure's batches; empty if these do not show it."""
    found = draw(failure.delivered)
    return drawn_text(found) if found.tells else ""


def cells_of(document: Document) -> dict[str, Cell]:
    """Return the cells of a report by class; a class that no case looked at has none."""
    found: dict[str, dict[str, set[int]]] = {}
    for case in document.cases:
        for finding in case.findings:
            words = found.setdefault(class_of(finding.requirement), {})
            words.setdefault(word(finding.outcome, finding.kind), set()).add(case.index)
    reasons = overview.reasons(document)
    return {name: _cell(name, words, document, reasons) for name, words in found.items()}


def _cell(
    name: str,
    words: Mapping[str, set[int]],
    document: Document,
    reasons: Mapping[str, tuple[Reason, ...]],
) -> Cell:
    decides = next(one for one in MEANINGS if one in words)
    judged = set[int]().union(*(cases for one, cases in words.items() if one not in _UNJUDGED))
    order = list(MEANINGS)

    def rank(numbered: tuple[int, Failure]) -> tuple[int, bool]:
        failure = numbered[1]
        return order.index(word(failure.outcome, failure.kind)), not drawing(failure)

    failures = [
        (number, failure)
        for number, failure in enumerate(document.footer.failures, start=1)
        if class_of(failure.requirement) == name
    ]
    return Cell(
        name,
        decides,
        len(words[decides]),
        len(judged),
        len(set[int]().union(*words.values()) - judged),
        tuple(sorted(failures, key=rank)),
        tuple(k for k in document.footer.known if k.holds and class_of(k.requirement) == name),
        tuple(_reasons(name, reasons)),
    )


def _reasons(name: str, reasons: Mapping[str, tuple[Reason, ...]]) -> Iterator[tuple[str, Reason]]:
    for outcome, members in reasons.items():
        for one in members:
            ids = tuple(i for i in one.requirements if class_of(i) == name)
            if ids:
                yield word(outcome), dataclasses.replace(one, requirements=ids)


def class_of(requirement: str) -> str:
    """Return the class of a requirement; it is guessed for one that this version does not know."""
    known = load().get(requirement)
    # A report of another version may know a requirement that this one does not.
    return known.cls if known else requirement.partition("-")[0].title()
