"""The lines of a check's report: a header, a line a case, a footer (pure).

Everything that readers are shown (tables, pages, badges) can be made from these lines; what each
field means stands in ``report-2.schema.json``. Two reports of one passing loader differ in
:data:`TIMES` alone: the lines stand in the table's order whatever the number of jobs, and what
varies from process to process (process ids, addresses, temporary folders) is taken out of the
texts.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.words import describe
from midepoch_conformance.run.events import CaseResult, Failure
from midepoch_conformance.verdict.finding import OUTCOMES, Finding, Result, place

if TYPE_CHECKING:
    from midepoch_conformance.run.check import Check
    from midepoch_conformance.run.known import Replayed

__all__ = [
    "FORMAT",
    "TIMES",
    "case_line",
    "finding_line",
    "footer_line",
    "header_line",
    "result_of",
    "settled",
    "stable",
    "table_digest",
]

FORMAT = 2
"""The version of the report's form."""

TIMES = ("seconds", "started")
"""The fields that differ from run to run."""

_PASSING = ("pass",)
_VARYING = (
    (re.compile(r"(\bpids?(?:\(s\))?[ =:]*)\d+(?:, ?\d+)*"), r"\1N"),
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "0xN"),
    (re.compile(r"(/tmp|/var/folders|/dev/shm)/[^\s'\",)]+"), r"\1/..."),
)


def header_line(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first line, from what :func:`report_header` made."""
    return {"type": "header", **header}


def case_line(result: CaseResult, own: bool, only: frozenset[str] | None = None) -> dict[str, Any]:
    """Return a case's line: its findings as they were judged, before any is *blocked*.

    Args:
        result: what came of the case.
        own: whether the loader is the user's own, with samples that the suite does not know.
        only: the requirements that are asked about; findings of others are kept apart, for a
            run that goes on.
    """
    asked = [f for f in result.findings if only is None or f.requirement in only]
    others = [f for f in result.findings if only is not None and f.requirement not in only]
    line = {
        "type": "case",
        "index": result.index,
        "id": result.case.id,
        "case": result.case.to_json(),
        "words": describe(result.case, own),
        "not_offered": None if result.reason is None else settled(result.reason),
        "findings": [finding_line(finding) for finding in asked],
    }
    if others:
        line["others"] = [finding_line(finding) for finding in others]
    return {**line, "seconds": round(result.seconds, 3)}


def footer_line(check: Check) -> dict[str, Any]:
    """Return the last line: what all cases come to."""
    return {
        "type": "footer",
        "status": check.status,
        "cases": len(check.results),
        "classes": [
            {"name": row.name, "requirements": list(row.requirements), "words": row.words}
            | {"counts": _counts(row.counts)}
            for row in check.summary.classes
        ],
        "requirements": [_row(row) for row in check.summary.rows],
        "blocked": [
            [result.index, finding.requirement, settled(finding.words)]
            for result in check.results
            for finding in result.findings
            if finding.outcome == "blocked"
        ],
        "failures": [_failure(failure) for failure in check.failures],
        "known": [_known(replayed) for replayed in check.known],
        "seconds": round(check.seconds, 3),
    }


def result_of(line: Mapping[str, Any]) -> CaseResult:
    """Return the result that a case's line tells of.

    Raises:
        CaseError: its case is none.
    """
    case = Case.from_json(line["case"])
    findings = tuple(
        place(_finding(said), case) for said in (*line["findings"], *line.get("others", ()))
    )
    return CaseResult(line["index"], case, findings, line["not_offered"], line["seconds"])


def stable(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report's line less its times, for comparing two runs."""
    return {key: value for key, value in line.items() if key not in TIMES}


def report_header(
    loader: Mapping[str, Any], profile: str, only: frozenset[str] | None
) -> dict[str, Any]:
    """Return the header: what was judged, by what, where and when; its table is not known yet."""
    return {
        "format": FORMAT,
        "suite": suite_version(),
        "spec": spec_version(),
        "profile": profile,
        "only": sorted(only) if only is not None else None,
        "loader": dict(loader),
        "table": None,
        "cases": None,
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def table_digest(table: Iterable[Case]) -> str:
    """Return the SHA-256 of a table's case ids, in its order."""
    return hashlib.sha256("\n".join(case.id for case in table).encode()).hexdigest()


def suite_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return metadata.version("midepoch")
    except metadata.PackageNotFoundError:
        return "unknown"


def spec_version() -> str:
    """Return the version of the specification that is judged by."""
    text = resources.files("midepoch_spec").joinpath("requirements.json").read_text("utf-8")
    return str(json.loads(text)["version"])


def settled(text: str) -> str:
    """Return ``text`` less what differs from process to process.

    Example:
        >>> settled("DataLoader worker (pid 4711) died; <Loader object at 0x7f11aa220c40>")
        'DataLoader worker (pid N) died; <Loader object at 0xN>'
    """
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def finding_line(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON types; a passing one is its outcome alone."""
    line: dict[str, Any] = {"requirement": finding.requirement, "outcome": finding.outcome}
    if finding.outcome in _PASSING:
        return line
    for name in ("kind", "words", "expected", "got", "needs"):
        value = getattr(finding, name)
        if value not in (None, "", ()):
            line[name] = settled(value) if isinstance(value, str) else value
    return line


def _finding(line: Mapping[str, Any]) -> Finding:
    return Finding(**{**line, "needs": tuple(line.get("needs", ()))})


def _row(row: Result) -> dict[str, Any]:
    return {
        "requirement": row.requirement,
        "kind": row.workload,
        "outcome": row.outcome,
        "counts": _counts(row.counts),
    }


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in OUTCOMES if counts.get(name)}


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        **finding_line(failure.finding),
        "workload_kinds": list(failure.workload_kinds),
        "feature": failure.feature,
        "id": failure.case.id,
        "case": failure.case.to_json(),
        "case_words": failure.words,
        "cases": failure.cases,
        "shrunk": failure.shrunk,
        "delivered": _delivery_of(failure),
        "script": failure.script,
        "script_text": failure.script_text,
        "script_note": settled(failure.script_note),
    }


def _delivery_of(failure: Failure) -> dict[str, Any] | None:
    return None if failure.delivered is None else failure.delivered.to_json()


def _known(replayed: Replayed) -> dict[str, Any]:
    entry = replayed.entry
    return {
        **finding_line(replayed.finding),
        "link": entry.link,
        "reason": entry.reason,
        "where": entry.where,
        "holds": replayed.holds,
        "id": entry.case.id,
        "case": entry.case.to_json(),
        "cases": replayed.cases,
        "workload_kinds": list(replayed.workload_kinds),
    }
