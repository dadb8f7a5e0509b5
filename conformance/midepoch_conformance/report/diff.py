"""What differs between two reports of a loader: what broke, what was fixed, and the rest (pure).

Cases are compared by their id, so that two reports are comparable as far as they share cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midepoch_conformance.report.overview import BREAKING
from midepoch_conformance.report.wording import cell_words, loader_title
from midepoch_conformance.run.settings import CheckError
from midepoch_conformance.verdict import requirements

if TYPE_CHECKING:
    from midepoch_conformance.report.file import Report

__all__ = ["SORTS", "Change", "NotComparableError", "ReportDiff", "RowChange", "report_diff"]

SORTS = {
    "broken": "it held or was refused, and fails now; or it held, and is refused now",
    "fixed": "it failed, and does not fail any more; or it was refused, and holds now",
    "changed": "it fails in another way",
    "unjudged": "it was judged, and is not any more",
    "judged": "it was not judged, and is now",
}
"""The sorts of changes of one requirement on one case."""

_JUDGED = frozenset({"pass", "refused", *BREAKING})


class NotComparableError(CheckError, ValueError):
    """Two reports that say nothing about each other."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One requirement on one case: what was found, and what is found now.

    Attributes:
        sort: one of :data:`SORTS`.
        requirement: the requirement.
        kind: the case's kind of workload.
        case: its id.
        words: the case in words.
        old: what was found.
        new: what is found now.
        told: the new finding in a sentence, where it has one.
        fails: whether it fails now.
    """

    sort: str
    requirement: str
    kind: str
    case: str
    words: str
    old: str
    new: str
    told: str = ""
    fails: bool = False


@dataclasses.dataclass(frozen=True)
class RowChange:
    """A requirement on a kind of workload, before and now; empty where it was not asked."""

    requirement: str
    kind: str
    old: str
    new: str
    sorts: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class ReportDiff:
    """All that differs.

    Attributes:
        old: the loader of the older report.
        new: that of the newer one.
        notes: what else is not the same, such as the profile or the suite.
        rows: the requirements and kinds of workload that changed.
        changes: each change, in the order of :data:`SORTS`.
        added: cases that only the newer report has, each with the requirements that fail on it.
        removed: cases that only the older one has.
        common: how many cases both have.
    """

    old: str
    new: str
    notes: tuple[str, ...]
    rows: tuple[RowChange, ...]
    changes: tuple[Change, ...]
    added: tuple[tuple[str, str, tuple[str, ...]], ...]
    removed: tuple[tuple[str, str], ...]
    common: int

    @property
    def status(self) -> int:
        """The exit status: 1 where something that held no longer holds."""
        return int(any(change.sort == "broken" for change in self.changes))

    @property
    def verdict(self) -> str:
        """What it comes to, in a few words."""
        counts = {sort: sum(c.sort == sort for c in self.changes) for sort in SORTS}
        words = [f"{counts['broken'] or 'nothing'} broken", f"{counts['fixed'] or 'nothing'} fixed"]
        words += [f"{counts[s]} {w}" for s, w in _WORDS.items() if counts[s]]
        failing = sum(change.fails for change in self.of("judged"))
        return ", ".join(words) + (f" ({failing} of them failing)" if failing else "")

    def of(self, sort: str) -> list[Change]:
        """Return the changes of one sort."""
        return [change for change in self.changes if change.sort == sort]


_WORDS = {
    "changed": "failing in another way",
    "unjudged": "no longer judged",
    "judged": "newly judged",
}


def report_diff(old: Report, new: Report, force: bool = False) -> ReportDiff:
    """Return what differs between two whole reports.

    Args:
        old: the older one.
        new: the newer one.
        force: whether reports of different loaders are compared as well.

    Raises:
        NotComparableError: they are of different loaders, or have no case in common.
    """
    names = [report.header["loader"]["name"] for report in (old, new)]
    if names[0] != names[1] and not force:
        raise NotComparableError(
            f"the reports are of different loaders: {names[0]} and {names[1]}",
            "--force compares them all the same",
        )
    before = {line["id"]: line for line in old.cases}
    now = {line["id"]: line for line in new.cases}
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
        key=lambda c: (order.index(c.sort), known.get(c.requirement, len(known)), c.kind, c.case)
    )
    return ReportDiff(
        old=loader_title(old.header["loader"]),
        new=loader_title(new.header["loader"]),
        notes=tuple(_notes(old, new)),
        rows=tuple(_rows(old, new, changes, asked)),
        changes=tuple(changes),
        added=tuple(
            (case, line["words"], _failing(line))
            for case, line in now.items()
            if case not in before
        ),
        removed=tuple((case, line["words"]) for case, line in before.items() if case not in now),
        common=len(shared),
    )


def _judge(report: Report) -> str:
    header = report.header
    return f"suite {header['suite']}, profile {header['profile']}"


def _asked(report: Report) -> frozenset[str]:
    """Return the requirements that a report speaks of."""
    found = {f["requirement"] for line in report.cases for f in line["findings"]}
    return frozenset(report.header["only"] or found)


def _notes(old: Report, new: Report) -> list[str]:
    pairs: list[tuple[str, Any, Any]] = [
        (name, old.header[field], new.header[field])
        for name, field in (
            ("profile", "profile"),
            ("suite", "suite"),
            ("specification", "spec"),
            ("asked for", "only"),
        )
    ]
    one, other = old.header["loader"], new.header["loader"]
    pairs += [(name, one[name], other[name]) for name in ("spec", "python", "platform")]
    names = sorted({*one["packages"], *other["packages"]})
    pairs += [(name, one["packages"].get(name), other["packages"].get(name)) for name in names]
    titles = {"spec": "named as", "python": "Python"}
    return [
        f"{titles.get(name, name)}: {_said(before)}, now {_said(now)}"
        for name, before, now in pairs
        if before != now
    ]


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "all" if value is None else str(value)


def _changes(
    before: Mapping[str, Any], now: Mapping[str, Any], asked: frozenset[str]
) -> list[Change]:
    old = {f["requirement"]: f for f in before["findings"]}
    new = {f["requirement"]: f for f in now["findings"]}
    found = []
    for name in old:
        if name not in new or name not in asked:
            continue
        sort = _sort(old[name], new[name])
        if sort:
            found.append(
                Change(
                    sort=sort,
                    requirement=name,
                    kind=now["case"]["workload"].get("kind", "map"),
                    case=now["id"],
                    words=now["words"],
                    old=_way(old[name]),
                    new=_way(new[name]),
                    told=new[name].get("words", ""),
                    fails=new[name]["outcome"] in BREAKING,
                )
            )
    return found


def _sort(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    before, now = old["outcome"], new["outcome"]
    if before not in _JUDGED or now not in _JUDGED:
        return "" if (before in _JUDGED) == (now in _JUDGED) else _judged(now)
    if now in BREAKING and before in BREAKING:
        return "" if _way(old) == _way(new) else "changed"
    if now in BREAKING or (now == "refused" and before == "pass"):
        return "broken"
    return "fixed" if before != now else ""


def _judged(now: str) -> str:
    return "judged" if now in _JUDGED else "unjudged"


def _way(finding: Mapping[str, Any]) -> str:
    kind = finding.get("kind") if finding["outcome"] in BREAKING else ""
    return f"{finding['outcome']} ({kind})" if kind else str(finding["outcome"])


def _rows(
    old: Report, new: Report, changes: Sequence[Change], asked: frozenset[str]
) -> list[RowChange]:
    before, now = _cells(old), _cells(new)
    found = []
    for key in [*now, *(key for key in before if key not in now)]:
        sorts = {
            sort: count
            for sort in SORTS
            if (count := sum((c.requirement, c.kind, c.sort) == (*key, sort) for c in changes))
        }
        if key[0] in asked and (sorts or before.get(key) != now.get(key)):
            found.append(RowChange(*key, before.get(key, ""), now.get(key, ""), sorts))
    return found


def _cells(report: Report) -> dict[tuple[str, str], str]:
    rows = (report.footer or {}).get("requirements", ())
    return {
        (row["requirement"], row["kind"]): cell_words(row["outcome"], row["counts"]) for row in rows
    }


def _failing(line: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f["requirement"] for f in line["findings"] if f["outcome"] in BREAKING)
