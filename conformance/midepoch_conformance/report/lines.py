"""From a check's results to its report, and from a report's case back to its result (pure).

Two reports of one passing loader differ in :data:`TIMES` and in their commands' options alone. The
cases stand in the table's order for any number of jobs. Process ids, addresses and temporary
folders are taken out of the texts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from importlib import metadata, resources
from typing import Any

from midepoch_conformance.case import case as plain
from midepoch_conformance.case.words import describe, feature_of
from midepoch_conformance.report.document import (
    Case,
    Class,
    Document,
    Failure,
    Finding,
    Footer,
    Header,
    Known,
    Loader,
    Measured,
    Row,
)
from midepoch_conformance.run.failures import failing_groups
from midepoch_conformance.run.summary import summarise, with_blocked
from midepoch_conformance.text import without_process_ids
from midepoch_conformance.verdict import finding as verdict
from midepoch_conformance.verdict import results
from midepoch_conformance.verdict.finding import OUTCOMES, place
from midepoch_conformance.verdict.results import CaseResult, Check, Facts, Summary

__all__ = [
    "FORMAT",
    "TIMES",
    "case_of",
    "document_of",
    "header_of",
    "result_of",
    "spec_version",
    "stable",
    "stopped",
    "suite_version",
]

FORMAT = 2
"""The version of the report's form."""

TIMES = ("seconds", "started")
"""The fields that differ from run to run."""


def document_of(check: Check) -> Document:
    """Return the report of a check."""
    own = check.facts.info.function
    cases = tuple(case_of(result, own) for result in check.results)
    return Document(header_of(check.facts), cases, _footer(check, cases))


def header_of(facts: Facts) -> Header:
    """Return the header of a run."""
    info = facts.info
    return Header(
        format=FORMAT,
        suite=suite_version(),
        spec=spec_version(),
        profile=facts.profile,
        only=None if facts.only is None else sorted(facts.only),
        loader=Loader(
            spec=facts.loader,
            function=info.function,
            name=info.name,
            version=info.version,
            python=info.python,
            platform=info.platform,
            packages=info.packages,
            reasons=info.offer.reasons,
            digest=info.digest,
        ),
        table=facts.table,
        cases=facts.cases,
        offered=facts.offered,
        started=facts.started,
        drawn=facts.drawn,
        seed=facts.seed,
        options=facts.options,
    )


def case_of(result: CaseResult, own: bool, only: frozenset[str] | None = None) -> Case:
    """Return a case with its findings.

    Args:
        result: the result of the case.
        own: whether the loader is the user's own, with samples that the suite does not know.
        only: the requirements that the user asked about; findings on others are kept apart, for
            a run that continues this one.
    """
    asked = [f for f in result.findings if only is None or f.requirement in only]
    others = [f for f in result.findings if only is not None and f.requirement not in only]
    return Case(
        index=result.index,
        id=result.case.id,
        case=result.case.to_json(),
        words=describe(result.case, own),
        not_offered=None if result.reason is None else without_process_ids(result.reason),
        findings=tuple(Finding(**_found(finding)) for finding in asked),
        others=tuple(Finding(**_found(finding)) for finding in others),
        seconds=round(result.seconds, 3),
    )


def result_of(case: Case) -> CaseResult:
    """Return the result that a report's case was made of.

    Raises:
        CaseError: this suite has no such case.
    """
    played = plain.Case.from_json(dict(case.case))
    findings = tuple(
        place(verdict.Finding(**_fields(finding)), played)
        for finding in (*case.findings, *case.others)
    )
    return CaseResult(case.index, played, findings, case.not_offered, case.seconds)


def stopped(header: Header, cases: tuple[Case, ...]) -> Document:
    """Return the document of a run that was stopped: what its cases show, and no more.

    Raises:
        CaseError: this suite has no such case.
    """
    # Findings on other requirements are kept for a run that continues this one.
    judged = [
        dataclasses.replace(
            result,
            findings=tuple(
                found
                for found in result.findings
                if header.only is None or found.requirement in header.only
            ),
        )
        for result in with_blocked([result_of(case) for case in cases])
    ]
    failures = [
        results.Failure(
            finding=finding,
            workload_kinds=group.kinds,
            case=case,
            words=describe(case, header.loader.function),
            cases=len(group.members),
            feature=feature_of(case),
            script_note="the run was stopped before its script was written",
        )
        for group in failing_groups(judged, by_kind=False)
        for case, finding in group.members[:1]
    ]
    summary = summarise(judged)
    found = tuple(case_of(result, header.loader.function) for result in judged)
    footer = Footer(
        status=1 if failures else 2,
        cases=len(found),
        classes=_classes(summary),
        requirements=_rows(summary),
        blocked=(),
        failures=tuple(map(_failure, failures)),
        known=(),
        seconds=round(sum(case.seconds for case in cases), 3),
    )
    return Document(header, found, footer, stopped=True)


def stable(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report's line without its times and options, to compare two runs."""
    return {key: value for key, value in line.items() if key not in (*TIMES, "options")}


def suite_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return metadata.version("midepoch")
    except metadata.PackageNotFoundError:
        return "unknown"


def spec_version() -> str:
    """Return the version of the specification that the suite judges by."""
    text = resources.files("midepoch_spec").joinpath("requirements.json").read_text("utf-8")
    return str(json.loads(text)["version"])


_FINDING = ("kind", "words", "expected", "got", "needs")


def _found(finding: verdict.Finding) -> dict[str, Any]:
    """Return the fields of a finding; one that passes is its outcome alone."""
    fields = {"requirement": finding.requirement, "outcome": finding.outcome}
    if finding.outcome == "pass" and not finding.kind:
        return fields
    for name in _FINDING:
        value = getattr(finding, name)
        if value not in (None, "", ()):
            fields[name] = without_process_ids(value) if isinstance(value, str) else value
    return fields


def _fields(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in ("requirement", "outcome", *_FINDING)}


def _footer(check: Check, cases: tuple[Case, ...]) -> Footer:
    return Footer(
        status=check.status,
        cases=len(cases),
        classes=_classes(check.summary),
        requirements=_rows(check.summary),
        blocked=tuple(
            (case.index, finding.requirement, finding.words)
            for case in cases
            for finding in case.findings
            if finding.outcome == "blocked"
        ),
        failures=tuple(map(_failure, check.failures)),
        known=tuple(map(_known, check.known)),
        seconds=round(check.seconds, 3),
        unjudged=check.unjudged,
        measured=None if check.measured is None else Measured(**dataclasses.asdict(check.measured)),
    )


def _classes(summary: Summary) -> tuple[Class, ...]:
    return tuple(
        Class(
            name=row.name,
            requirements=row.requirements,
            words=row.words,
            counts=_counts(row.counts),
        )
        for row in summary.classes
    )


def _rows(summary: Summary) -> tuple[Row, ...]:
    return tuple(
        Row(
            requirement=row.requirement,
            kind=row.workload,
            outcome=row.outcome,
            counts=_counts(row.counts),
        )
        for row in summary.rows
    )


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in OUTCOMES if counts.get(name)}


def _failure(failure: results.Failure) -> Failure:
    return Failure(
        **_found(failure.finding),
        workload_kinds=failure.workload_kinds,
        feature=failure.feature,
        id=failure.case.id,
        case=failure.case.to_json(),
        case_words=failure.words,
        cases=failure.cases,
        shrunk=failure.shrunk,
        delivered=None if failure.delivered is None else failure.delivered.to_json(),
        script=failure.script,
        script_text=failure.script_text,
        script_note=without_process_ids(failure.script_note),
        worst=without_process_ids(failure.worst),
        also=failure.also,
        stacks=failure.stacks,
    )


def _known(replayed: results.Replayed) -> Known:
    entry = replayed.entry
    return Known(
        **_found(replayed.finding),
        link=entry.link,
        reason=entry.reason,
        where=entry.where,
        holds=replayed.holds,
        id=entry.case.id,
        case=entry.case.to_json(),
        cases=replayed.cases,
        workload_kinds=replayed.workload_kinds,
    )
