"""From a red line to its cause: the smallest case, in words, with a script that shows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from midepoch_conformance.bench import Bench
from midepoch_conformance.case import Case
from midepoch_conformance.describe import describe
from midepoch_conformance.events import CaseResult, Failure
from midepoch_conformance.scripts import Scripts
from midepoch_conformance.shrink import shrink, size
from midepoch_conformance.summary import failing
from midepoch_conformance.verdict import Finding

__all__ = ["Group", "failing_groups", "investigate"]


_TRIED = 3
"""How many of a group's cases are tried for a script that shows the failure."""


@dataclasses.dataclass(frozen=True)
class Group:
    """All failing cases of one requirement that are shown by one script, the smallest first."""

    requirement: str
    members: tuple[tuple[Case, Finding], ...]

    @property
    def workload_kind(self) -> str:
        """The kind of workload of the smallest case."""
        return self.members[0][0].workload.kind

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of workload that the requirement fails on in this way."""
        return tuple(dict.fromkeys(case.workload.kind for case, _ in self.members))


def failing_groups(results: Iterable[CaseResult], *, by_kind: bool) -> list[Group]:
    """Return what fails, in the order in which the table shows it.

    ``by_kind``: apart for each kind of workload; else apart for each way of failing, whatever
    the kind, so that there are few scripts to run.
    """
    found: dict[tuple[str, str], list[tuple[Case, Finding]]] = {}
    for result in results:
        for finding in result.findings:
            if failing(finding):
                way = f"{finding.outcome} {finding.kind}"
                key = (finding.requirement, result.case.workload.kind if by_kind else way)
                found.setdefault(key, []).append((result.case, finding))
    return [
        Group(requirement, tuple(sorted(members, key=_weight)))
        for (requirement, _), members in found.items()
    ]


def _weight(member: tuple[Case, Finding]) -> tuple[bool, tuple[int, ...], str]:
    case, finding = member
    # What fails each time shows more than what fails now and then.
    return finding.outcome == "unstable", size(case), case.id


def investigate(bench: Bench, group: Group, scripts: Scripts | None, smaller: bool) -> Failure:
    """Return the group's smallest case, made smaller where asked for, with its script.

    Where the script of the smallest case does not show the failure by itself, those of the
    next ones are tried.
    """
    first: Failure | None = None
    for case, finding in group.members[:_TRIED]:
        failure = _failure(bench, group, case, finding, smaller)
        if scripts is None:
            return failure
        failure = scripts.add(failure, bench.info, bench.lengths(failure.case))
        if not failure.script_note:
            return failure
        first = first or failure
    if first is None:
        raise ValueError(f"no case of {group.requirement} fails: there is nothing to show")
    return first


def _failure(bench: Bench, group: Group, case: Case, finding: Finding, smaller: bool) -> Failure:
    plays = 0
    # A cost made smaller ends just beyond its bound, where it convinces nobody.
    if smaller and finding.outcome != "unstable" and finding.kind != "cost":
        shrunk = shrink(case, finding, lambda candidate: bench.fails(candidate, finding))
        case, finding, plays = shrunk.case, shrunk.finding, shrunk.plays
    return Failure(
        finding=finding,
        workload_kinds=(case.workload.kind, *(k for k in group.kinds if k != case.workload.kind)),
        case=case,
        words=describe(case, own=bench.info.function),
        cases=len(group.members),
        shrunk=plays,
    )
