"""The difference of two reports, shown: on a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midepoch_conformance.report.diff import SORTS, Change, ReportDiff, RowChange
from midepoch_conformance.report.markdown import code, plain, table
from midepoch_conformance.report.wording import count_words
from midepoch_conformance.text import clipped, printable

__all__ = ["diff_markdown", "show_diff"]

_STYLES = {
    "broken": "bold red",
    "fixed": "bold green",
    "changed": "yellow",
    "unjudged": "magenta",
    "judged": "cyan",
}
_GROUPS, _IDS = 20, 6
"""So many ways of changing are written out of each sort, and so many cases of each."""
_WORDS = 400


def show_diff(diff: ReportDiff, console: Console) -> None:
    """Print what differs."""
    console.print(Text(_title(diff), "bold"))
    for note in diff.notes:
        console.print(Text(f"  {printable(note, lines=False)}", "dim"))
    if diff.rows:
        console.print(_rows(diff.rows))
    for sort, meaning in SORTS.items():
        changes = diff.of(sort)
        if changes:
            console.print(Text.assemble(f"\n{sort} ", (f"({meaning})", "dim"), style=_STYLES[sort]))
            console.print(_changes(changes))
    for words in _cases(diff):
        console.print(Text(f"\n{words}"))
    style = "bold red" if diff.status else "bold green"
    console.print(Text.assemble(f"\n{_title(diff)}: ", (diff.verdict, style)))


def diff_markdown(diff: ReportDiff) -> str:
    """Return what differs as Markdown."""
    sign = "❌" if diff.status else "✅"
    lines = [f"## {sign} {plain(_title(diff))}: {plain(diff.verdict)}", ""]
    lines += [f"{count_words(diff.common, 'case')} in common.", ""]
    if diff.notes:
        lines += [*(f"- {plain(note)}" for note in diff.notes), ""]
    if diff.rows:
        rows = [
            [plain(row.requirement), plain(row.kind), plain(row.old), plain(row.new), _sorts(row)]
            for row in diff.rows
        ]
        lines += [*table(["Requirement", "Workload", "Before", "Now", "Cases"], rows), ""]
    for sort, meaning in SORTS.items():
        changes = diff.of(sort)
        if not changes:
            continue
        lines += [f"### {sort}: {meaning}", ""]
        groups = _groups(changes)
        rows = [
            [
                plain(group[0].requirement),
                plain(group[0].kind.replace("_", " ")),
                plain(group[0].old),
                plain(group[0].new),
                _told(group),
            ]
            for group in groups[:_GROUPS]
        ]
        lines += table(["Requirement", "Workload", "Before", "Now", "Cases"], rows)
        if len(groups) > _GROUPS:
            lines += ["", f"and {len(groups) - _GROUPS} more ways"]
        lines.append("")
    lines += [line for words in _cases(diff) for line in (plain(words), "")]
    return "\n".join(lines).rstrip() + "\n"


def _title(diff: ReportDiff) -> str:
    old, new = (printable(name, lines=False) for name in (diff.old, diff.new))
    return old if old == new else f"{old} → {new}"


def _rows(rows: Sequence[RowChange]) -> Table:
    shown = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("requirement", "workload", "before", "now", "cases"):
        shown.add_column(name)
    for row in rows:
        style = next((_STYLES[sort] for sort in SORTS if sort in row.sorts), "")
        words = (row.requirement, row.kind.replace("_", " "), row.old, row.new, _sorts(row))
        shown.add_row(*(Text(printable(word), style) for word in words))
    return shown


def _sorts(row: RowChange) -> str:
    return ", ".join(f"{count} {sort}" for sort, count in row.sorts.items()) or "other cases"


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    """Return the changes of one sort, those that change alike together, the shortest case first."""
    found: dict[tuple[str, ...], list[Change]] = {}
    for one in changes:
        found.setdefault((one.requirement, one.kind, one.old, one.new), []).append(one)
    return [sorted(group, key=lambda c: (len(c.words), c.case)) for group in found.values()]


def _changes(changes: Sequence[Change]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    groups = _groups(changes)
    for group in groups[:_GROUPS]:
        first = group[0]
        kind = first.kind.replace("_", " ")
        change = f"{first.old} → {first.new} on {kind} data, {count_words(len(group), 'case')}"
        text = Text(printable(change, lines=False))
        text.append("\n" + printable(first.words, lines=False), "dim")
        if first.told:
            text.append("\n" + clipped(printable(first.told, lines=False), _WORDS))
        text.append(f"\n{_ids(group)}", "dim")
        grid.add_row(f"  {first.requirement}", text)
    if len(groups) > _GROUPS:
        grid.add_row("", f"and {len(groups) - _GROUPS} more ways")
    return grid


def _ids(group: Sequence[Change]) -> str:
    more = f" and {len(group) - _IDS} more" if len(group) > _IDS else ""
    return " ".join(change.case for change in group[:_IDS]) + more


def _told(group: Sequence[Change]) -> str:
    first = group[0]
    parts = [f"{count_words(len(group), 'case')}, such as: {plain(first.words)}"]
    if first.told:
        parts.append(code(clipped(first.told, _WORDS), cell=True))
    parts.append(f"`{_ids(group)}`")
    return "<br>".join(parts)


def _cases(diff: ReportDiff) -> list[str]:
    """Return what is to be said of the cases that one report alone has."""
    words = []
    if diff.added:
        failing = sum(bool(names) for _, _, names in diff.added)
        text = f"{count_words(len(diff.added), 'new case')}, {failing or 'none'} of them failing"
        names = sorted({name for _, _, found in diff.added for name in found})
        words.append(f"{text}: {', '.join(names)}" if names else text)
    if diff.removed:
        words.append(f"{count_words(len(diff.removed), 'case')} removed")
    return words
