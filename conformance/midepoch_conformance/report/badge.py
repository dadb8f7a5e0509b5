"""Badges: one SVG for each class of a report, and one for the whole."""

from __future__ import annotations

from pathlib import Path

from midepoch_conformance.report import overview
from midepoch_conformance.report.document import Document
from midepoch_conformance.report.overview import ClassView
from midepoch_conformance.report.page import environment, slug
from midepoch_conformance.text import clipped, printable
from midepoch_conformance.verdict.results import BREAKING

__all__ = ["badges", "class_words", "write_badges"]

_COLOURS = {
    "pass": "#1b6b3a",
    "refused": "#7a5200",
    "error": "#7a5200",
    "blocked": "#6b3fa0",
    "not offered": "#566268",
}
"""The colours of outcomes; white text on each has a contrast of at least 5."""

_FAILS = "#a4262c"
_WHOLE = "midepoch"
_NARROW, _WIDE = "fijlrt.,:;'!|()[] -/", "mwMW%"
_EDGE = 14


def badges(document: Document) -> dict[str, str]:
    """Return the badges by file name, that of the whole first."""
    views = overview.class_views(document)
    outcomes = [one.outcome for view in views for one in view.requirements]
    asked = sum(outcome != "not offered" for outcome in outcomes)
    failing = sum(outcome in BREAKING for outcome in outcomes)
    status, title = document.footer.status, document.header.loader.title
    if failing and status == 0:
        outcome, words = "error", f"known failures {failing}"
    elif failing:
        outcome, words = "fails", f"fails {failing} of {asked}"
    elif status:
        outcome, words = "error", "not judged"
    else:
        outcome, words = "pass", f"pass {asked}/{asked}"
    whole = _badge(_WHOLE, outcome, words, f"{title}: {overview.verdict(document)}")
    found = {f"{_WHOLE}.svg": whole}
    for view in views:
        name = view.entry.name
        words = f"{title}, class {name}: {view.entry.words}"
        found[f"{slug(name)}.svg"] = _badge(name, view.outcome, class_words(view), words)
    return found


def class_words(view: ClassView) -> str:
    """Return the verdict on a class in a few words."""
    outcome, counts = view.outcome, view.entry.counts
    asked = sum(n for name, n in counts.items() if name != "not offered")
    if outcome == "not offered":
        return outcome
    if outcome == "pass":
        return f"pass {counts['pass']}/{asked}"
    bad = sum(counts.get(name, 0) for name in BREAKING)
    return f"fails {bad}" if bad else f"{outcome} {counts[outcome]} of {asked}"


def write_badges(document: Document, folder: Path) -> list[Path]:
    """Write the badges into ``folder``, which is made, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in badges(document).items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _badge(label: str, outcome: str, words: str, title: str) -> str:
    left, right = _width(label), _width(words)
    return (
        environment()
        .get_template("badge.svg")
        .render(
            label=label,
            words=words,
            title=clipped(printable(title, lines=False), 200),
            left=left,
            right=right,
            width=left + right,
            colour=_COLOURS.get(outcome, _FAILS),
        )
    )


def _width(text: str) -> int:
    """Return the approximate width of ``text`` in the badge's font, which the badge then fixes."""
    points = sum(3.9 if c in _NARROW else 10.2 if c in _WIDE else 7.0 for c in text)
    return round(points) + _EDGE
