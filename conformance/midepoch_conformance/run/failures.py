"""Groups failing cases by cause, and shows the smallest case of each group by a script."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from midepoch_conformance.case.case import HISTORIES, Case
from midepoch_conformance.case.words import describe, feature_of, sort_of
from midepoch_conformance.errors import own_error
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.search.shrink import shrink, size
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, Failure, failing

__all__ = [
    "Group",
    "by_harm",
    "damage",
    "distinct",
    "failing_groups",
    "harm",
    "investigate",
    "shown",
    "smallest",
]


_TRIED = 3
"""The most cases of a group that are tried until a script shows the failure."""


@dataclasses.dataclass(frozen=True)
class Group:
    """The failing cases of a requirement that seem to have one cause, smallest first."""

    requirement: str
    members: tuple[tuple[Case, Finding], ...]

    @property
    def workload_kind(self) -> str:
        """The kind of workload of the smallest case."""
        return self.members[0][0].workload.kind

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of workload on which the requirement fails in this way."""
        return tuple(dict.fromkeys(case.workload.kind for case, _ in self.members))

    @property
    def features(self) -> tuple[str, ...]:
        """The unusual features of its workloads; without any if a plain workload fails as well."""
        found = tuple(dict.fromkeys(feature_of(case) for case, _ in self.members))
        return () if "" in found else found


def failing_groups(results: Iterable[CaseResult], *, by_kind: bool) -> list[Group]:
    """Return the failing cases in groups, each of one cause, in the table's order.

    Causes differ if the requirement, the outcome or the kind of finding differs; with ``by_kind``
    also if the kind of workload or its feature differs. An unstable failure joins a stable one of
    the same requirement and sort of workload, if there is one.
    """
    found: dict[Cause, list[tuple[Case, Finding]]] = {}
    unstable: list[tuple[Case, Finding]] = []
    for result in results:
        for finding in filter(failing, result.findings):
            if finding.outcome == "unstable":
                unstable.append((result.case, finding))
            else:
                cause = _cause(result.case, finding, by_kind)
                found.setdefault(cause, []).append((result.case, finding))
    stable = list(found)
    for case, finding in unstable:
        cause = _cause(case, finding, by_kind)
        alike = [c for c in stable if (c.requirement, c.sort) == (cause.requirement, cause.sort)]
        found.setdefault(alike[0] if alike else cause, []).append((case, finding))
    return [Group(c.requirement, tuple(sorted(m, key=_weight))) for c, m in found.items()]


class Cause(NamedTuple):
    """The cause of a failure, as far as it is visible; two failures of one cause are equal here."""

    requirement: str
    sort: tuple[str, str]
    """The kind of workload and its feature; ``""`` if they do not count."""
    outcome: str
    kind: str
    """The finding's kind."""


def _cause(case: Case, finding: Finding, by_kind: bool) -> Cause:
    kind, feature = sort_of(case)
    # A drawn workload has any features: only the smallest case tells which of them matter.
    sort = (kind, "" if case.probe in HISTORIES else feature) if by_kind else ("", "")
    return Cause(finding.requirement, sort, finding.outcome, finding.kind)


def _weight(member: tuple[Case, Finding]) -> tuple[bool, bool, tuple[int, ...], str]:
    case, finding = member
    # A stable failure is better evidence than an unstable one, and a plain workload says more.
    return finding.outcome == "unstable", feature_of(case) != "", size(case), case.id


_HARM = (
    {"hang", "crash"},
    {"late error"},
    {"error", "bare error", "codec", "save", "close", "invalid", "refusal"},
    {"cost", "leftover"},
)
"""The kinds of findings after those of wrong batches, the most harmful first."""


def harm(finding: Finding) -> int:
    """Return the place of a finding in the order of harm: 0 for wrong batches without an error.

    Example:
        >>> harm(Finding("RESUME-1", "fails silently", "missing")), harm(
        ...     Finding("COST-1", "fails", "cost")
        ... )
        (0, 4)
    """
    ranks = (rank for rank, kinds in enumerate(_HARM, start=1) if finding.kind in kinds)
    return next(ranks, 0)


def by_harm(found: Iterable[tuple[Group, Failure]]) -> list[tuple[Group, Failure]]:
    """Return failures with the most harmful first; equal ones stay in the table's order."""
    return sorted(found, key=lambda pair: harm(pair[1].finding))


def damage(finding: Finding) -> int:
    """Return how many rows are missing or were not expected; 0 if the finding has no batches."""
    expected, got = (_rows(value) for value in (finding.expected, finding.got))
    if expected is None or got is None:
        return 0
    return ((expected - got) + (got - expected)).total() or int(finding.expected != finding.got)


def _rows(batches: Any) -> Counter[str] | None:
    """Return how often each row comes; None if these are no batches."""
    if not isinstance(batches, list) or not all(isinstance(batch, list) for batch in batches):
        return None
    return Counter(repr(row) for batch in batches for row in batch)


def _worst(group: Group, shown: Finding, own: bool) -> str:
    """Return the case of a group that goes most wrong, in words; "" if none is worse than shown."""
    case, finding = max(group.members, key=lambda member: damage(member[1]))
    if damage(finding) <= damage(shown):
        return ""
    return f"{describe(case, own=own)}: {finding.words}"


def investigate(bench: Bench, group: Group, scripts: Scripts | None, shrinking: bool) -> Failure:
    """Return the group's smallest case, shrunk if ``shrinking``, with its script.

    If the script of the smallest case does not show the failure, the scripts of the next cases
    are tried.
    """
    return shown(bench, group, smallest(bench, group, shrinking), scripts, shrinking)


def smallest(
    bench: Bench, group: Group, shrinking: bool, number: int = 0, until: float = math.inf
) -> Failure:
    """Return the group's smallest case, shrunk if ``shrinking``.

    Args:
        bench: plays cases.
        group: the failing cases.
        shrinking: whether the case is shrunk.
        number: 1 for the group's next case, and so on.
        until: the case is not made smaller later than this, by ``time.monotonic``.
    """
    members = group.members
    if members[number][1].kind == "hang":  # the ones with a proof first: another takes five limits
        members = tuple(sorted(members, key=lambda member: bench.stacks(member[0]) is None))
    plays, (case, finding) = 0, members[number]
    if shrinking and _worth_shrinking(case, finding):
        # An error of the suite's own must not cost the report: the case is shown as it is.
        with contextlib.suppress(Exception):
            shrunk = shrink(
                case,
                finding,
                lambda candidate: bench.fails(candidate, finding),
                goes_on=lambda: time.monotonic() < until,
            )
            case, finding, plays = shrunk.case, shrunk.finding, shrunk.plays
    if finding.kind == "hang":
        case, finding = _proven(bench, members, case, finding)
    return Failure(
        finding=finding,
        workload_kinds=(case.workload.kind, *(k for k in group.kinds if k != case.workload.kind)),
        case=case,
        words=describe(case, own=bench.info.function),
        cases=len(group.members),
        shrunk=plays,
        feature=feature_of(case),
        also=tuple(other for other in group.features if other != feature_of(case)),
        worst=_worst(group, finding, bench.info.function),
        stacks=bench.stacks(case) or "",
    )


def _worth_shrinking(case: Case, finding: Finding) -> bool:
    if finding.kind == "hang":  # each play takes a limit, and the cases of tables are small
        return case.probe in HISTORIES
    # A shrunk case of a cost failure exceeds its bound only slightly, so it is weak evidence.
    return finding.outcome != "unstable" and finding.kind != "cost"


def _proven(
    bench: Bench, members: Sequence[tuple[Case, Finding]], case: Case, finding: Finding
) -> tuple[Case, Finding]:
    """Return a case whose hang has a proof of its own: the smallest one, or one of its group.

    If none of those that are tried has one, the smallest case is returned as unstable.
    """
    tried = {case.id: (case, finding), **{member[0].id: member for member in members}}
    for one, how in list(tried.values())[:_TRIED]:
        found = how if bench.stacks(one) is not None else bench.fails(one, how, proven=True)
        if found is not None:
            return one, found
    words = f"no play that had five times the limit hangs: {finding.words}"
    return case, dataclasses.replace(finding, outcome="unstable", words=words)


def distinct(
    found: Iterable[tuple[Group, Failure]], *, by_kind: bool
) -> list[tuple[Group, Failure]]:
    """Return the failures, merged if their smallest cases have the same cause.

    A workload's feature is not the cause if the smallest case does not have it.
    """
    first: dict[Cause, tuple[Group, Failure]] = {}
    for group, failure in found:
        cause = _cause(failure.case, failure.finding, by_kind)
        if cause not in first:
            first[cause] = group, failure
            continue
        both = (first[cause], (group, failure))
        one, two = sorted(both, key=lambda p: _weight((p[1].case, p[1].finding)))
        first[cause] = (
            one[0],
            dataclasses.replace(
                one[1],
                cases=one[1].cases + two[1].cases,
                workload_kinds=_kinds(one[1], two[1]),
                also=_also(one[1], two[1]),
                worst=one[1].worst or two[1].worst,
            ),
        )
    return list(first.values())


def shown(
    bench: Bench,
    group: Group,
    failure: Failure,
    scripts: Scripts | None,
    shrinking: bool,
    until: float = math.inf,
) -> Failure:
    """Return ``failure`` with its delivered batches and, if there is a folder, its script.

    Later than ``until``, only the script of the smallest case is tried.
    """
    if scripts is not None:
        try:
            failure = _scripted(bench, group, failure, scripts, shrinking, until)
        except Exception as error:
            note = f"the suite itself failed to write a script: {own_error(error)}"
            failure = dataclasses.replace(failure, script_note=note)
    # Replaying a hang takes its whole limit again, and a drawing would add nothing to its words.
    if failure.finding.kind == "hang":
        return failure
    with contextlib.suppress(Exception):
        failure = dataclasses.replace(failure, delivered=bench.delivered(failure.case))
    return failure


def _scripted(
    bench: Bench,
    group: Group,
    failure: Failure,
    scripts: Scripts,
    shrinking: bool,
    until: float,
) -> Failure:
    first = _added(bench, failure, scripts)
    found = first
    for number in range(1, min(_TRIED, len(group.members))):
        if not found.script_note or time.monotonic() >= until:
            break
        other = smallest(bench, group, shrinking, number, until)
        other = dataclasses.replace(
            other, cases=failure.cases, workload_kinds=_kinds(other, failure)
        )
        found = _added(bench, other, scripts)
    return first if found.script_note else found


def _added(bench: Bench, failure: Failure, scripts: Scripts) -> Failure:
    finding = failure.finding
    if finding.evidence is None:  # the failure was read from a report
        finding = bench.fails(failure.case, finding) or finding
    complete = dataclasses.replace(failure, finding=finding)
    errors = bench.errors(failure.case, finding)
    lengths = bench.lengths(failure.case)
    return scripts.add(complete, bench.info, lengths, errors, bench.limit)


def _also(failure: Failure, merged: Failure) -> tuple[str, ...]:
    """Return the other features of two failures; none if one of them has no feature."""
    if not (failure.feature and merged.feature):
        return ()
    found = dict.fromkeys((*failure.also, merged.feature, *merged.also))
    return tuple(other for other in found if other != failure.feature)


def _kinds(failure: Failure, merged: Failure) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*failure.workload_kinds, *merged.workload_kinds)))
