"""Results as Markdown (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from midepoch_conformance.benchmarks.cases import ROWS
from midepoch_conformance.benchmarks.goals import HOPED, MET
from midepoch_conformance.benchmarks.results import CaseResult, Results
from midepoch_conformance.benchmarks.words import machine_words, rows_of

__all__ = ["markdown"]

_HEAD = ("what is measured", "who", "median", "quartiles", "beside it", "95%", "goal", "")


def markdown(results: Results, level: int = 3) -> str:
    """Return what the run ran on, a table for each row of goals, and what was not measured.

    Args:
        results: a run.
        level: of the headings.
    """
    lines = [f"{machine_words(results)}.", "", _summary(results), ""]
    for row, title in ROWS.items():
        found = [one for one in results.results if one.case.row == row]
        if found:
            lines += [f"{'#' * level} {title}", "", *_table(found), "", *_absent(found)]
    return "\n".join(lines)


def _summary(results: Results) -> str:
    verdicts = [verdict for found in results.results for verdict in found.verdicts()]
    reached = verdicts.count(HOPED) + verdicts.count(MET)
    words = f"{reached} goals are met, {verdicts.count(HOPED)} of them as hoped for"
    missed = ", ".join(f"`{name}`" for name in results.missed)
    return f"{words}; missed: {missed}." if missed else f"{words}; none is missed."


def _table(found: list[CaseResult]) -> Iterator[str]:
    yield _line(_HEAD)
    yield _line(["---"] * len(_HEAD))
    for one in found:
        for number, row in enumerate(rows_of(one)):
            yield _line([one.case.words if number == 0 else "", *row])


def _absent(found: list[CaseResult]) -> Iterator[str]:
    told = [(one.case.words, absent) for one in found for absent in one.absent]
    for words, absent in told:
        yield f"* {words}: {_plain(absent.name)}: {absent.kind}: {_plain(absent.words)}"
    if told:
        yield ""


def _line(cells: object) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"  # type: ignore[call-overload]


def _plain(text: str) -> str:
    """Return words, which may be a loader's own, as text of one line."""
    for mark in "\\|<>*_`[]":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else f"&{_NAMES[mark]};")
    return " ".join(text.split())


_NAMES = {"<": "lt", ">": "gt"}
