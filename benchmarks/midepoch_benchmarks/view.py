"""Benchmarks on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from midepoch_benchmarks.cases import CASES
from midepoch_benchmarks.goals import HOPED, MET, MISSED
from midepoch_benchmarks.results import CaseResult, Results
from midepoch_benchmarks.tables import (
    COLUMNS,
    figure_words,
    goal_words,
    machine_words,
    quantity,
    rows_of,
    summary_words,
)
from midepoch_conformance.text import printable

__all__ = ["Progress", "show_cases", "show_results", "verdict_line"]

_ID = max(len(name) for name in CASES) + 2
_LEFT_OUT: tuple[tuple[str, ...], ...] = ((), ("quartiles",), ("quartiles", "95% interval"))
"""The columns that tables leave out, the widest table first."""
_STYLES = {HOPED: "bold green", MET: "green", MISSED: "bold red"}


def show_cases(console: Console) -> None:
    """List the cases with their goals, by rows; a case's line fits into 80 columns."""
    console.print("Each case with its goal: what is required, then what is hoped for.\n")
    row = ""
    rows = list(dict.fromkeys(case.row for case in CASES.values()))
    for case in sorted(CASES.values(), key=lambda case: rows.index(case.row)):
        if case.row != row:
            row = case.row
            console.print(Text(row, "bold"))
        against = case.against if isinstance(case.against, str) else ", ".join(case.against)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=_ID, no_wrap=True)
        table.add_column()
        goal = goal_words(case)
        words = [f"against {against}" if against and against != "asked" else "", goal]
        told = Text(case.words)
        if any(words):
            told.append(f" ({'; '.join(filter(None, words))})", "dim")
        table.add_row(f"  {case.id}", told)
        console.print(table)


def show_results(results: Results, console: Console) -> None:
    """Show a table of all cases, the contenders that were not measured, and the last line."""
    console.print(Text(machine_words(results), "dim"))
    left_out, table = _fitting(results, console)
    console.print(table)
    if left_out:
        words = f"a wider terminal also shows: {', '.join(left_out)}; --json FILE keeps them"
        console.print(Text(words, "dim"))
    for found in results.results:
        for absent in found.absent:
            told = f"{found.case.id}: {absent.name}: {absent.kind}: {absent.words}"
            style = "red" if absent.kind == "failed" else "dim"
            console.print(Text(printable(told, lines=False), style), soft_wrap=True)
    console.print(verdict_line(results), soft_wrap=True)


def _fitting(results: Results, console: Console) -> tuple[tuple[str, ...], Table]:
    """Return the first table that fits into the console, and the columns that it leaves out.

    The last table is taken if none fits: its long words are folded, and nothing is cut off.
    """
    endless = console.options.update_width(1000)
    for left_out in _LEFT_OUT:
        for stacked in (False, True):
            table = _table(results, left_out, stacked)
            if Measurement.get(console, endless, table).maximum <= console.width:
                return left_out, table
    return left_out, table


def _table(results: Results, left_out: tuple[str, ...], stacked: bool) -> Table:
    """Return the table without some columns; a stacked one gives each case's id its own line."""
    kept = [number for number, name in enumerate(COLUMNS) if name not in left_out]
    heads = [COLUMNS[number] for number in kept]
    heads[0] = "case, loader" if stacked else heads[0]
    table = Table(*([] if stacked else ["case"]), *heads, box=None, pad_edge=False)
    for found in results.results:
        rows = [[row[number] for number in kept] for row in rows_of(found)]
        if stacked and rows:
            table.add_row(Text(found.case.id, "bold"))
        for number, (name, *texts, verdict) in enumerate(rows):
            case = found.case.id if number == 0 else ""
            first = [f"  {name}"] if stacked else [case, name]
            words = map(Text, (*first, *texts))  # a loader's own name is no markup
            table.add_row(*words, Text(verdict, _STYLES.get(verdict, "dim")))
    for column in table.columns:
        column.overflow = "fold"
    return table


def verdict_line(results: Results) -> Text:
    """Return the last line: how many goals were met."""
    return Text(summary_words(results), "bold red" if results.missed else "bold green")


class Progress:
    """A line for each case that has been measured.

    Args:
        count: the number of cases.
        console: shows the lines.
    """

    def __init__(self, count: int, console: Console) -> None:
        self.count, self.console, self.done = count, console, 0

    def __call__(self, found: CaseResult) -> None:
        """Show a case's result."""
        self.done += 1
        words = f"{self.done}/{self.count} {found.case.id}: {_line(found)}"
        self.console.print(Text(printable(words, lines=False)), soft_wrap=True)


def _line(found: CaseResult) -> str:
    case = found.case
    figures = [f"{c.peer} {figure_words(c.figure, case.goal)}" for c in found.compared]
    own = next((one.median for one in found.measured if one.name == found.loader), None)
    took = "not measured" if own is None else f"{quantity(own, case.unit)} per {case.per}"
    verdicts = [v for v in found.verdicts() if v in _STYLES]
    worst = next((name for name in (MISSED, MET, HOPED) if name in verdicts), "")
    return "; ".join(part for part in (took, *figures, worst) if part)
