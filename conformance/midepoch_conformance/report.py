"""The report of a check as JSON Lines: a header, a line a case, a footer.

Everything that readers are shown (tables, pages, badges) can be made from these lines. Two
reports of one passing loader differ in ``seconds`` and ``started`` alone: the lines stand in
the table's order whatever the number of jobs, and what varies from process to process
(process ids, addresses, temporary folders) is taken out of the texts.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midepoch_conformance.describe import describe
from midepoch_conformance.events import CaseResult, Failure
from midepoch_conformance.verdict import OUTCOMES, Finding, Result

if TYPE_CHECKING:
    from midepoch_conformance.check import Check

__all__ = ["FORMAT", "TIMES", "ReportError", "lines", "read_report", "stable", "write_report"]

FORMAT = 1
"""The version of the report's form."""

TIMES = ("seconds", "started")
"""The fields that differ from run to run."""

_PASSING = ("pass",)
_VARYING = (
    (re.compile(r"(\bpids?(?:\(s\))?[ =:]*)\d+(?:, ?\d+)*"), r"\1N"),
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "0xN"),
    (re.compile(r"(/tmp|/var/folders|/dev/shm)/[^\s'\",)]+"), r"\1/..."),
)


class ReportError(ValueError):
    """A report that cannot be read, or that ends before its footer."""


def lines(check: Check) -> Iterator[dict[str, Any]]:
    """Yield the report's lines as JSON types."""
    yield {"type": "header", **check.header}
    for result in check.results:
        yield _case_line(result, own=check.header["loader"]["function"])
    yield {
        "type": "footer",
        "status": check.status,
        "cases": len(check.results),
        "classes": [dataclasses.asdict(c) for c in check.summary.classes],
        "requirements": [_row(row) for row in check.summary.rows],
        "failures": [_failure(failure) for failure in check.failures],
        "seconds": round(check.seconds, 3),
    }


def write_report(check: Check, path: Path) -> None:
    """Write the report to ``path``; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for line in lines(check):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_report(path: Path) -> list[dict[str, Any]]:
    """Read a report.

    Raises:
        ReportError: the file is no report, of another form, or ends before its footer.
    """
    found: list[dict[str, Any]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise ReportError(f"{path}, line {number}: not JSON: {error}") from error
        if not isinstance(line, dict) or "type" not in line:
            raise ReportError(f"{path}, line {number}: not a line of a report: {text[:80]}")
        found.append(line)
    if not found or found[0]["type"] != "header":
        raise ReportError(f"{path}: a report begins with its header")
    if found[0].get("format") != FORMAT:
        raise ReportError(f"{path}: format {found[0].get('format')!r}; this suite reads {FORMAT}")
    if found[-1]["type"] != "footer":
        raise ReportError(f"{path}: no footer: the run was interrupted")
    return found


def stable(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report's line less its times, for comparing two runs."""
    return {key: value for key, value in line.items() if key not in TIMES}


def report_header(
    loader: Mapping[str, Any], profile: str, only: frozenset[str] | None
) -> dict[str, Any]:
    """Return the header: what was judged, by what, where and when."""
    return {
        "format": FORMAT,
        "suite": suite_version(),
        "spec": spec_version(),
        "profile": profile,
        "only": sorted(only) if only is not None else None,
        "loader": dict(loader),
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


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


def _case_line(result: CaseResult, own: bool) -> dict[str, Any]:
    return {
        "type": "case",
        "index": result.index,
        "id": result.case.id,
        "case": result.case.to_json(),
        "words": describe(result.case, own),
        "not_offered": result.reason,
        "findings": [finding_line(finding) for finding in result.findings],
        "seconds": round(result.seconds, 3),
    }


def finding_line(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON types; a passing one is its outcome alone."""
    line: dict[str, Any] = {"requirement": finding.requirement, "outcome": finding.outcome}
    if finding.outcome in _PASSING:
        return line
    for name in ("kind", "words", "expected", "got"):
        value = getattr(finding, name)
        if value not in (None, ""):
            line[name] = settled(value) if isinstance(value, str) else value
    return line


def _row(row: Result) -> dict[str, Any]:
    return {
        "requirement": row.requirement,
        "kind": row.workload,
        "outcome": row.outcome,
        "counts": {name: row.counts[name] for name in OUTCOMES if row.counts.get(name)},
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        **finding_line(failure.finding),
        "workload_kinds": list(failure.workload_kinds),
        "id": failure.case.id,
        "case": failure.case.to_json(),
        "case_words": failure.words,
        "cases": failure.cases,
        "shrunk": failure.shrunk,
        "script": failure.script,
        "script_note": failure.script_note,
    }
