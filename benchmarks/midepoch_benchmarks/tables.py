"""Results as text: figures in words for terminals and pages, and Markdown tables (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from midepoch_benchmarks.cases import ROWS, Case
from midepoch_benchmarks.goals import COST, HOPED, MET, RATIO, REPORTED, Goal
from midepoch_benchmarks.results import CaseResult, Results

__all__ = [
    "COLUMNS",
    "figure_words",
    "goal_words",
    "interval_words",
    "machine_words",
    "markdown",
    "quantity",
    "rows_of",
    "summary_words",
]

COLUMNS = ("loader", "median", "quartiles", "beside it", "95% interval", "goal", "")
"""The heads of the columns of :func:`rows_of`."""

_SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "B")),
}


def quantity(value: float, unit: str) -> str:
    """Return a measured quantity with its unit.

    >>> quantity(0.00003421, "s"), quantity(2.0, "count"), quantity(1536, "bytes")
    ('34.2 µs', '2', '1.5 KB')
    """
    if unit == "count":
        return f"{value:.2f}".rstrip("0").rstrip(".")
    scales = _SCALES[unit]
    size, name = next((s for s in scales if abs(value) >= s[0]), scales[-1])
    return f"{_digits(value / size)} {name}"


def figure_words(figure: float, goal: Goal) -> str:
    """Return a ratio or a cost.

    >>> figure_words(22.34, Goal(RATIO)), figure_words(0.034, Goal(COST))
    ('22.3x', '+3.4%')
    """
    if goal.of == COST:
        return f"{100 * figure:+.1f}%"
    return f"{_digits(figure)}x"


def interval_words(low: float, high: float, goal: Goal) -> str:
    """Return a confidence interval.

    >>> interval_words(20.1, 24.25, Goal(RATIO))
    '20.1x to 24.2x'
    """
    return f"{figure_words(low, goal)} to {figure_words(high, goal)}"


def goal_words(case: Case) -> str:
    """Return the bounds of a case: the required one, and the one that is hoped for.

    >>> from midepoch_benchmarks.cases import CASES
    >>> goal_words(CASES["first-batch"]), goal_words(CASES["order-1e6"])
    ('>= 1x, 2x', '<= 60 ns, 40 ns')
    """
    goal = case.goal
    if goal.required is None:
        return ""
    bounds = [_bound(case, goal.required)]
    if goal.hoped is not None:
        bounds.append(_bound(case, goal.hoped))
    return f"{'>=' if goal.larger_is_better else '<='} {', '.join(bounds)}"


def rows_of(found: CaseResult) -> Iterator[tuple[str, str, str, str, str, str, str]]:
    """Yield a row for each contender.

    A row is: name, median, quartiles, the loader beside it, the interval of that, goal, verdict.
    """
    case = found.case
    for one in found.measured:
        quartiles = " to ".join(quantity(value, case.unit) for value in (one.low, one.high))
        beside = interval = ""
        verdict = found.own_verdict() if one.name == found.loader else REPORTED
        compared = next((c for c in found.compared if c.peer == one.name), None)
        if compared is not None:
            beside = figure_words(compared.figure, case.goal)
            interval = interval_words(compared.low, compared.high, case.goal)
            verdict = found.verdict_of(compared)
        goal = "" if verdict == REPORTED else goal_words(case)
        shown = "" if verdict == REPORTED else verdict
        yield one.name, quantity(one.median, case.unit), quartiles, beside, interval, goal, shown


def machine_words(results: Results) -> str:
    """Return the machine of a run, in one line."""
    machine = results.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {quantity(machine['memory'], 'bytes')}, "
        f"{machine['kernel']}, Python {machine['python']}, {versions}, "
        f"load average at the start {machine['load'][0]}, a byte to another process and back in "
        f"{quantity(machine['round_trip'], 's')}; "
        f"{results.settings['rounds']} rounds of {quantity(results.settings['seconds'], 's')}"
    )


def summary_words(results: Results, mark: str = "") -> str:
    """Return how many goals are met, and the missed cases, each between two ``mark``."""
    verdicts = [verdict for found in results.results for verdict in found.verdicts()]
    hoped = verdicts.count(HOPED)
    missed = ", ".join(f"{mark}{name}{mark}" for name in results.missed) or "none"
    return f"goals met: {hoped + verdicts.count(MET)}, {hoped} as hoped for; missed: {missed}"


def markdown(results: Results, level: int = 3) -> str:
    """Return the machine, a table for each row of goals, and the contenders that were not measured.

    Args:
        results: a run.
        level: the level of the headings.
    """
    lines = [f"{machine_words(results)}.", "", f"{summary_words(results, '`')}.", ""]
    for row, title in ROWS.items():
        found = [one for one in results.results if one.case.row == row]
        if found:
            lines += [f"{'#' * level} {title}", "", *_table(found), "", *_absent(found)]
    return "\n".join(lines)


def _bound(case: Case, value: float) -> str:
    if case.goal.of == RATIO:
        return f"{value:g}x"
    return f"{100 * value:g}%" if case.goal.of == COST else quantity(value, case.unit)


def _digits(value: float) -> str:
    """Return three significant digits, without zeros at the end of a fraction."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _table(found: list[CaseResult]) -> Iterator[str]:
    heads = ("what is measured", *COLUMNS)
    yield _line(heads)
    yield _line(["---"] * len(heads))
    for one in found:
        for number, row in enumerate(rows_of(one)):
            yield _line([one.case.words if number == 0 else "", *row])


def _absent(found: list[CaseResult]) -> Iterator[str]:
    told = [(one.case.words, absent) for one in found for absent in one.absent]
    for words, absent in told:
        yield f"* {words}: {_plain(absent.name)}: {absent.kind}: {_plain(absent.words)}"
    if told:
        yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Return words, which may be a loader's own, as text of one line."""
    for mark in "\\|<>*_`[]":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else f"&{_NAMES[mark]};")
    return " ".join(text.split())


_NAMES = {"<": "lt", ">": "gt"}
