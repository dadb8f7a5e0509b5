"""Badges: one SVG for each class of a report, and one for the whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from midepoch_conformance.report.overview import BREAKING, ClassView, Overview
from midepoch_conformance.report.page import environment, slug
from midepoch_conformance.text import clipped, printable

__all__ = ["badges", "class_words", "write_badges"]

_COLOURS = {
    "pass": "#1b6b3a",
    "refused": "#7a5200",
    "error": "#7a5200",
    "blocked": "#6b3fa0",
    "not offered": "#566268",
}
"""White on these has a contrast of at least 5; what is not here fails."""

_FAILS = "#a4262c"
_WHOLE = "midepoch"
_NARROW, _WIDE = "fijlrt.,:;'!|()[] -/", "mwMW%"
_EDGE = 14


def badges(page: Overview) -> dict[str, str]:
    """Return the badges by file name, that of the whole first."""
    asked = [one for one in page.requirements if one.outcome != "not offered"]
    failing = [one for one in asked if one.outcome in BREAKING]
    if failing and page.status == 0:
        outcome, words = "error", f"known failures {len(failing)}"
    elif failing:
        outcome, words = "fails", f"fails {len(failing)} of {len(asked)}"
    elif page.status:
        outcome, words = "error", "not judged"
    else:
        outcome, words = "pass", f"pass {len(asked)}/{len(asked)}"
    found = {f"{_WHOLE}.svg": _badge(_WHOLE, outcome, words, f"{page.name}: {page.verdict}")}
    for entry in page.classes:
        title = f"{page.name}, class {entry.name}: {entry.words}"
        words = class_words(entry)
        found[f"{slug(entry.name)}.svg"] = _badge(entry.name, entry.outcome, words, title)
    return found


def class_words(entry: ClassView) -> str:
    """Return what a class comes to, in a few words."""
    return _words(entry.outcome, entry.counts)


def write_badges(page: Overview, folder: Path) -> list[Path]:
    """Write the badges into ``folder``, which is made, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in badges(page).items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _words(outcome: str, counts: Mapping[str, int]) -> str:
    asked = sum(n for name, n in counts.items() if name != "not offered")
    if outcome == "not offered":
        return outcome
    if outcome == "pass":
        return f"pass {counts['pass']}/{asked}"
    bad = sum(counts.get(name, 0) for name in BREAKING)
    return f"fails {bad}" if bad else f"{outcome} {counts[outcome]} of {asked}"


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
    """Return about how wide ``text`` is in the badge's font; the badge then sets it so."""
    points = sum(3.9 if c in _NARROW else 10.2 if c in _WIDE else 7.0 for c in text)
    return round(points) + _EDGE
