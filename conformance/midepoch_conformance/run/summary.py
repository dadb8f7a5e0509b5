"""The verdicts of all cases: a row for each requirement and kind of workload (pure)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from midepoch_conformance import judges
from midepoch_conformance.case.case import Case, has_workers
from midepoch_conformance.verdict import finding as verdict
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.prerequisites import presupposed
from midepoch_conformance.verdict.results import (
    RESUMING,
    CaseResult,
    ClassRow,
    Summary,
    failing,
)

__all__ = [
    "SORTS",
    "WITH_WORKERS",
    "loads",
    "no_run_with_workers",
    "of_sort",
    "prerequisite_cases",
    "summarise",
    "unjudged",
    "with_blocked",
]

WITH_WORKERS = "runs with workers"
"""In the place of a requirement that was not judged: every case with workers."""

SORTS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    WITH_WORKERS: lambda x: x.get("workers", 0) > 0,
    "runs with threads": lambda x: x.get("worker_kind") == "thread",
    "runs with spawned workers": lambda x: x.get("start_method") == "spawn",
    "runs with a fork server": lambda x: x.get("start_method") == "forkserver",
    "runs with persistent workers": lambda x: x.get("persistent", False),
    "runs out of order": lambda x: not x.get("in_order", True),
}
"""In the place of a requirement that was not judged: every case whose uninterrupted run is of a
sort, which an execution's fields tell."""

_BASIS = ("BASIS-1", "BASIS-2", "BASIS-3")
"""The requirements whose failure may leave no uninterrupted run to compare with."""


def prerequisite_cases(
    table: Collection[Case],
    findings: Iterable[Finding],
    played: Container[str],
    *,
    blocked: bool = False,
) -> list[Case]:
    """Return the cases that must be judged as well to decide which failures are *blocked*.

    Args:
        table: all cases.
        findings: the findings so far.
        played: the ids of the cases that were judged already.
        blocked: those of findings that a judge blocked are needed as well.
    """
    asked: set[tuple[str, str, int]] = set()
    for finding in findings:
        hidden = blocked and finding.outcome == "blocked"
        if failing(finding) or finding.kind == "oracle" or hidden:
            needed = (*presupposed(finding.requirement), *finding.needs, *_BASIS)
            asked |= {(name, finding.workload, n) for name in needed for n in finding.workers}
    judging = {
        case.id: {
            (name, case.workload.kind, plan.execution.workers)
            for name in judges.applicable(case)
            for plan in case.sessions
        }
        for case in table
    }
    # What no case judges at a worker count is looked at with any workers.
    elsewhere = {(name, kind) for name, kind, n in asked.difference(*judging.values()) if n}
    return [
        case
        for case in table
        if case.id not in played
        and any(
            place in asked or (place[2] and place[:2] in elsewhere) for place in judging[case.id]
        )
    ]


def with_blocked(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the results with those failures *blocked* whose prerequisite fails."""
    found = iter(verdict.block_dependents(f for result in results for f in result.findings))
    return [
        dataclasses.replace(result, findings=tuple(next(found) for _ in result.findings))
        for result in results
    ]


def summarise(results: Iterable[CaseResult]) -> Summary:
    """Count the findings of ``results`` by requirement, kind of workload and class."""
    rows = tuple(verdict.aggregate(f for result in results for f in result.findings))
    known = requirements.load()
    classes = []
    for entry in requirements.classes():
        ids = tuple(name for name, requirement in known.items() if requirement.cls == entry.name)
        members = [row for row in rows if row.requirement in ids]
        if members:
            counts: Counter[str] = Counter()
            for row in members:
                counts.update(row.counts)
            words = verdict.class_words(members)
            classes.append(ClassRow(entry.name, ids, words, dict(counts)))
    return Summary(rows, tuple(classes))


def unjudged(results: Sequence[CaseResult], names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what was asked and not judged: a check without it must not look like a pass.

    Args:
        results: all results.
        names: the requirements and classes that the user named. If there are none, the user asks
            whether the loader resumes.
    """
    missing = (*failing_runs(results), *only_blocked(results))
    if not names:
        judged = any(
            finding.outcome == "pass" or failing(finding)
            for result in results
            if loads(result.case)
            for finding in result.findings
        )
        return missing if judged else (RESUMING, *missing)
    found = {
        finding.requirement
        for result in results
        for finding in result.findings
        if finding.outcome in ("pass", "refused") or failing(finding)
    }
    asked = {name.lower(): name for name in names}
    known = requirements.load().values()
    members = {
        lower: {r.id for r in known if lower in (r.id.lower(), r.cls.lower())} for lower in asked
    }
    titles = {word.lower(): word for r in known for word in (r.id, r.cls)}
    left = tuple(titles.get(lower, lower) for lower in asked if not members[lower] & found)
    return tuple(dict.fromkeys((*left, *missing)))


def no_run_with_workers(results: Iterable[CaseResult]) -> bool:
    """Return whether cases with workers were played, and their uninterrupted runs left no verdict.

    One that fails leaves nothing to compare with, and a loader's own samples are not known.
    """
    found = [
        finding
        for result in results
        if result.reason is None and has_workers(result.case)
        for finding in result.findings
    ]
    return any(finding.kind == "oracle" for finding in found) and all(
        finding.outcome == "not offered" for finding in found
    )


def of_sort(case: Case, sort: str) -> bool:
    """Return whether a case's uninterrupted run is of a sort, and no sample fails on purpose."""
    return case.workload.fail_at is None and SORTS[sort](vars(case.sessions[0].execution))


def failing_runs(results: Sequence[CaseResult]) -> tuple[str, ...]:
    """Return the sorts of runs that failed whenever something was to be compared with them.

    An error before the first batch may be a refusal to be built. It breaks no requirement then, but
    what the loader offers is not judged.
    """
    if no_run_with_workers(results):
        return (WITH_WORKERS,)
    compared = [
        (r.case, any(f.kind == "oracle" for f in r.findings))
        for r in results
        if r.reason is None and r.findings
    ]
    runs = {sort: [failed for case, failed in compared if of_sort(case, sort)] for sort in SORTS}
    return tuple(name for name, failed in runs.items() if failed and all(failed))


def only_blocked(results: Iterable[CaseResult]) -> tuple[str, ...]:
    """Return the requirements whose cases were all blocked, although no case fails.

    Such a loader raises an error in every run of that kind, with ranks for instance. The error
    looks like a refusal to be built, and leaves nothing to compare with.
    """
    outcomes: dict[str, set[str]] = {}
    for result in results:
        for finding in result.findings:
            if failing(finding):
                return ()
            outcomes.setdefault(finding.requirement, set()).add(finding.outcome)
    return tuple(name for name, of in outcomes.items() if of - {"not offered"} == {"blocked"})


def loads(case: Case) -> bool:
    """Return whether a saved state is loaded in any session of ``case``."""
    return any(step.do == "load" for plan in case.sessions for step in plan.steps)
