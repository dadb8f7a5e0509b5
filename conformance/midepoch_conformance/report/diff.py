"""The differences of two reports of a loader, as data, on a terminal and as Markdown.

Cases are compared by their id, so that two reports are comparable as far as they share cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from midepoch_conformance.errors import CheckError
from midepoch_conformance.report.document import Case, Document, Finding
from midepoch_conformance.report.markdown import code, plain, table
from midepoch_conformance.report.wording import cell_words, kinds_words
from midepoch_conformance.text import clipped, counted, printable
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import BREAKING

__all__ = [
    "SORTS",
    "Change",
    "NotComparableError",
    "ReportDiff",
    "RowChange",
    "diff_markdown",
    "report_diff",
    "show_diff",
]

SORTS = {
    "broken": "it held or was refused, and fails now; or it held, and is refused now",
    "fixed": "it failed and no longer does; or it was refused, and holds now",
    "changed": "it fails in another way",
    "unjudged": "it was judged, and is not any more",
    "judged": "it was not judged, and is now",
}
"""The sorts of changes of one requirement on one case."""

_JUDGED = frozenset({"pass", "refused", *BREAKING})
_STYLES = {
    "broken": "bold red",
    "fixed": "bold green",
    "changed": "yellow",
    "unjudged": "magenta",
    "judged": "cyan",
}
_GROUPS, _IDS, _WORDS = 20, 6, 400
"""The most ways of changing that are shown of each sort, cases of each, and characters of text."""


class NotComparableError(CheckError, ValueError):
    """Two reports that say nothing about each other."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One requirement on one case that both reports have."""

    sort: str
    """One of :data:`SORTS`."""
    case: Case
    """The case, as the newer report has it."""
    before: Finding
    now: Finding

    @property
    def requirement(self) -> str:
        """The requirement's id."""
        return self.now.requirement

    @property
    def old(self) -> str:
        """The older finding in a few words."""
        return _way(self.before)

    @property
    def new(self) -> str:
        """The newer finding in a few words."""
        return _way(self.now)


@dataclasses.dataclass(frozen=True)
class RowChange:
    """A requirement on a kind of workload, before and now; empty if it was not asked."""

    requirement: str
    kind: str
    old: str
    new: str
    sorts: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class ReportDiff:
    """All differences of two reports."""

    old: str
    """The loader of the older report."""
    new: str
    """The loader of the newer one."""
    notes: tuple[str, ...]
    """Other differences, such as the profile or the suite."""
    rows: tuple[RowChange, ...]
    """The requirements and kinds of workload that changed."""
    changes: tuple[Change, ...]
    """Each change, in the order of :data:`SORTS`."""
    added: tuple[Case, ...]
    """Cases that only the newer report has."""
    removed: tuple[Case, ...]
    """Cases that only the older one has."""
    common: int
    """The number of cases that both have."""

    @property
    def status(self) -> int:
        """The exit status: 1 if anything that held no longer holds."""
        return int(any(change.sort == "broken" for change in self.changes))

    @property
    def verdict(self) -> str:
        """The result in a few words."""
        counts = {sort: len(self.of(sort)) for sort in SORTS}
        words = [f"{counts['broken'] or 'nothing'} broken", f"{counts['fixed'] or 'nothing'} fixed"]
        words += [f"{counts[s]} {w}" for s, w in _OTHER.items() if counts[s]]
        failing = sum(change.now.fails for change in self.of("judged"))
        return ", ".join(words) + (f" ({failing} of them failing)" if failing else "")

    @property
    def title(self) -> str:
        """The loaders that are compared."""
        old, new = (printable(name, lines=False) for name in (self.old, self.new))
        return old if old == new else f"{old} → {new}"

    def of(self, sort: str) -> list[Change]:
        """Return the changes of one sort."""
        return [change for change in self.changes if change.sort == sort]


_OTHER = {
    "changed": "failing in another way",
    "unjudged": "no longer judged",
    "judged": "newly judged",
}


def report_diff(old: Document, new: Document, force: bool = False) -> ReportDiff:
    """Return the differences of two reports.

    Args:
        old: the older one.
        new: the newer one.
        force: whether reports of different loaders are compared as well.

    Raises:
        NotComparableError: they are of different loaders, or have no case in common.
    """
    names = [document.header.loader.name for document in (old, new)]
    if names[0] != names[1] and not force:
        raise NotComparableError(
            f"the reports are of different loaders: {names[0]} and {names[1]}",
            "--force compares them all the same",
        )
    before = {case.id: case for case in old.cases}
    now = {case.id: case for case in new.cases}
    shared = [case for case in before if case in now]
    if not shared:
        raise NotComparableError(
            f"the reports have no case in common: {_judge(old)}, and {_judge(new)}",
            "judge both versions by the same suite and profile",
        )
    asked = _asked(old) & _asked(new)
    changes = [c for case in shared for c in _changes(before[case], now[case], asked)]
    order = list(SORTS)
    known = {name: i for i, name in enumerate(requirements.load())}
    changes.sort(
        key=lambda c: (
            order.index(c.sort),
            known.get(c.requirement, len(known)),
            c.case.kind,
            c.case.id,
        )
    )
    return ReportDiff(
        old=old.header.loader.title,
        new=new.header.loader.title,
        notes=tuple(_notes(old, new)),
        rows=tuple(_rows(old, new, changes, asked)),
        changes=tuple(changes),
        added=tuple(case for case in new.cases if case.id not in before),
        removed=tuple(case for case in old.cases if case.id not in now),
        common=len(shared),
    )


def show_diff(diff: ReportDiff, console: Console) -> None:
    """Print the differences."""
    console.print(Text(diff.title, "bold"))
    for note in diff.notes:
        console.print(Text(f"  {printable(note, lines=False)}", "dim"))
    if diff.rows:
        console.print(_row_table(diff.rows))
    for sort, meaning in SORTS.items():
        changes = diff.of(sort)
        if changes:
            console.print(Text.assemble(f"\n{sort} ", (f"({meaning})", "dim"), style=_STYLES[sort]))
            console.print(_change_table(changes))
    for words in _other_cases(diff):
        console.print(Text(f"\n{words}"))
    style = "bold red" if diff.status else "bold green"
    console.print(Text.assemble(f"\n{diff.title}: ", (diff.verdict, style)))


def diff_markdown(diff: ReportDiff) -> str:
    """Return the differences as Markdown."""
    sign = "❌" if diff.status else "✅"
    lines = [f"## {sign} {plain(diff.title)}: {plain(diff.verdict)}", ""]
    lines += [f"{counted(diff.common, 'case')} in common.", ""]
    if diff.notes:
        lines += [*(f"- {plain(note)}" for note in diff.notes), ""]
    head = ["Requirement", "Workload", "Before", "Now", "Cases"]
    if diff.rows:
        cells = ((r.requirement, r.kind, r.old, r.new) for r in diff.rows)
        counts = map(_sorts, diff.rows)
        rows = [[*map(plain, row), count] for row, count in zip(cells, counts, strict=True)]
        lines += [*table(head, rows), ""]
    for sort, meaning in SORTS.items():
        groups = _groups(diff.of(sort))
        if not groups:
            continue
        rows = [
            [
                *map(plain, (one.requirement, kinds_words([one.case.kind]), one.old, one.new)),
                _group_words(group),
            ]
            for group in groups[:_GROUPS]
            for one in group[:1]
        ]
        lines += [f"### {sort}: {meaning}", "", *table(head, rows)]
        if len(groups) > _GROUPS:
            lines += ["", f"and {counted(len(groups) - _GROUPS, 'more way')}"]
        lines.append("")
    lines += [line for words in _other_cases(diff) for line in (plain(words), "")]
    return "\n".join(lines).rstrip() + "\n"


def _judge(document: Document) -> str:
    header = document.header
    return f"suite {header.suite}, profile {header.profile}"


def _asked(document: Document) -> frozenset[str]:
    """Return the requirements of a report."""
    found = {finding.requirement for case in document.cases for finding in case.findings}
    return frozenset(document.header.only or found)


def _notes(old: Document, new: Document) -> list[str]:
    one, other = old.header.loader, new.header.loader
    pairs: list[tuple[str, Any, Any]] = [
        ("profile", old.header.profile, new.header.profile),
        ("suite", old.header.suite, new.header.suite),
        ("specification", old.header.spec, new.header.spec),
        ("asked for", old.header.only, new.header.only),
        ("named as", one.spec, other.spec),
        ("Python", one.python, other.python),
        ("platform", one.platform, other.platform),
    ]
    names = sorted({*one.packages, *other.packages})
    pairs += [(name, one.packages.get(name), other.packages.get(name)) for name in names]
    return [
        f"{name}: {_said(before)}, now {_said(now)}" for name, before, now in pairs if before != now
    ]


def _said(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(value)
    return "all" if value is None else str(value)


def _changes(before: Case, now: Case, asked: frozenset[str]) -> list[Change]:
    old = {finding.requirement: finding for finding in before.findings}
    new = {finding.requirement: finding for finding in now.findings}
    both = [name for name in old if name in new and name in asked]
    found = [Change(_sort(old[name], new[name]), now, old[name], new[name]) for name in both]
    return [change for change in found if change.sort]


def _sort(old: Finding, new: Finding) -> str:
    before, now = old.outcome, new.outcome
    if before not in _JUDGED or now not in _JUDGED:
        if (before in _JUDGED) == (now in _JUDGED):
            return ""
        return "judged" if now in _JUDGED else "unjudged"
    if old.fails and new.fails:
        return "" if _way(old) == _way(new) else "changed"
    if new.fails or (now == "refused" and before == "pass"):
        return "broken"
    return "fixed" if before != now else ""


def _way(finding: Finding) -> str:
    return finding.way if finding.fails else finding.outcome


def _rows(
    old: Document, new: Document, changes: Sequence[Change], asked: frozenset[str]
) -> list[RowChange]:
    before, now = _cells(old), _cells(new)
    found = []
    for key in [*now, *(key for key in before if key not in now)]:
        sorts = {
            sort: count
            for sort in SORTS
            if (count := sum((c.requirement, c.case.kind, c.sort) == (*key, sort) for c in changes))
        }
        if key[0] in asked and (sorts or before.get(key) != now.get(key)):
            found.append(RowChange(*key, before.get(key, ""), now.get(key, ""), sorts))
    return found


def _cells(document: Document) -> dict[tuple[str, str], str]:
    rows = document.footer.requirements
    return {(row.requirement, row.kind): cell_words(row.outcome, row.counts) for row in rows}


def _row_table(rows: Sequence[RowChange]) -> Table:
    shown = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("requirement", "workload", "before", "now", "cases"):
        shown.add_column(name)
    for row in rows:
        style = next((_STYLES[sort] for sort in SORTS if sort in row.sorts), "")
        words = (row.requirement, kinds_words([row.kind]), row.old, row.new, _sorts(row))
        shown.add_row(*(Text(printable(word), style) for word in words))
    return shown


def _sorts(row: RowChange) -> str:
    return ", ".join(f"{count} {sort}" for sort, count in row.sorts.items()) or "other cases"


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    """Return the changes of one sort, equal ones together, the shortest case first."""
    found: dict[tuple[str, ...], list[Change]] = {}
    for one in changes:
        key = (one.requirement, one.case.kind, one.old, one.new)
        found.setdefault(key, []).append(one)
    return [sorted(g, key=lambda c: (len(c.case.words), c.case.id)) for g in found.values()]


def _change_table(changes: Sequence[Change]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    groups = _groups(changes)
    for group in groups[:_GROUPS]:
        first = group[0]
        where = f"on {kinds_words([first.case.kind])} data, {counted(len(group), 'case')}"
        text = Text(printable(f"{first.old} → {first.new} {where}", lines=False))
        text.append("\n" + printable(first.case.words, lines=False), "dim")
        if first.now.words:
            text.append("\n" + clipped(printable(first.now.words, lines=False), _WORDS))
        text.append(f"\n{_ids(group)}", "dim")
        grid.add_row(f"  {first.requirement}", text)
    if len(groups) > _GROUPS:
        grid.add_row("", f"and {counted(len(groups) - _GROUPS, 'more way')}")
    return grid


def _ids(group: Sequence[Change]) -> str:
    more = f" and {len(group) - _IDS} more" if len(group) > _IDS else ""
    return " ".join(change.case.id for change in group[:_IDS]) + more


def _group_words(group: Sequence[Change]) -> str:
    first = group[0]
    parts = [f"{counted(len(group), 'case')}, such as: {plain(first.case.words)}"]
    if first.now.words:
        parts.append(code(clipped(first.now.words, _WORDS), cell=True))
    parts.append(f"`{_ids(group)}`")
    return "<br>".join(parts)


def _other_cases(diff: ReportDiff) -> list[str]:
    """Return a sentence for the cases that one report alone has."""
    words = []
    if diff.added:
        failing = [{f.requirement for f in case.findings if f.fails} for case in diff.added]
        count = sum(map(bool, failing)) or "none"
        text = f"{counted(len(diff.added), 'new case')}, {count} of them failing"
        names = sorted(set().union(*failing))
        words.append(f"{text}: {', '.join(names)}" if names else text)
    if diff.removed:
        words.append(f"{counted(len(diff.removed), 'case')} removed")
    return words
