"""From a report back to the check that wrote it, to be shown as that check was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midepoch_conformance.case.case import Case, CaseError
from midepoch_conformance.report.file import Report, ReportError, load_report
from midepoch_conformance.report.lines import result_of
from midepoch_conformance.report.wording import reproduce
from midepoch_conformance.run.events import Failure
from midepoch_conformance.run.known import Known, Replayed
from midepoch_conformance.run.summary import ClassRow, Summary
from midepoch_conformance.verdict.finding import Finding, Result, place

if TYPE_CHECKING:
    from midepoch_conformance.run.check import Check

__all__ = ["check_of", "whole_report"]

_FINDING = ("requirement", "outcome", "kind", "words", "expected", "got")


def whole_report(path: Path) -> Report:
    """Read a report that has its footer.

    Raises:
        ReportError: the file is no report, or the run was interrupted.
    """
    report = load_report(path, interrupted=True)
    if report.footer is None:
        told = len(report.cases)
        of = f" of {report.header['cases']}" if report.header["cases"] is not None else ""
        hint = f"`{reproduce(report.header)} --json {path} --continue` judges the rest"
        if report.header["cases"] is None:
            hint = f"`{reproduce(report.header)} --json {path}` draws the same cases again"
        raise ReportError(
            f"{path}: the run was interrupted after {told}{of} cases: there is no footer, and "
            "nothing is settled",
            hint,
        )
    return report


def check_of(report: Report) -> Check:
    """Return the check that ``report``, which has a footer, tells of.

    Raises:
        ReportError: it has none, or one of its cases is none that this suite knows.
    """
    from midepoch_conformance.run.check import Check  # it can play cases: pages need none of that

    footer = report.footer
    if footer is None:
        raise ReportError("a report without its footer tells of no whole check")
    try:
        return Check(
            header=report.header,
            results=[result_of(line) for line in report.cases],
            summary=_summary(footer),
            failures=[_failure(line) for line in footer["failures"]],
            seconds=footer["seconds"],
            known=[_known(line) for line in footer["known"]],
        )
    except CaseError as error:
        raise ReportError(
            f"a case of the report is none that this suite knows: {error}",
            f"read it with the suite that wrote it, {report.header['suite']}",
        ) from error


def _summary(footer: Mapping[str, Any]) -> Summary:
    rows = tuple(
        Result(
            row["requirement"],
            row["kind"],
            row["outcome"],
            row["counts"],
            Finding(row["requirement"], row["outcome"], workload=row["kind"]),
        )
        for row in footer["requirements"]
    )
    classes = tuple(
        ClassRow(entry["name"], tuple(entry["requirements"]), entry["words"], entry["counts"])
        for entry in footer["classes"]
    )
    return Summary(rows, classes)


def _found(line: Mapping[str, Any], case: Case) -> Finding:
    return place(Finding(**{name: line[name] for name in _FINDING if name in line}), case)


def _failure(line: Mapping[str, Any]) -> Failure:
    case = Case.from_json(line["case"])
    return Failure(
        finding=_found(line, case),
        workload_kinds=tuple(line["workload_kinds"]),
        case=case,
        words=line["case_words"],
        cases=line["cases"],
        shrunk=line["shrunk"],
        script=line["script"],
        script_note=line["script_note"],
        script_text=line["script_text"],
        feature=line["feature"],
    )


def _known(line: Mapping[str, Any]) -> Replayed:
    case = Case.from_json(line["case"])
    entry = Known(line["requirement"], line["link"], line["reason"], case, line["where"])
    return Replayed(entry, _found(line, case), line["cases"], tuple(line["workload_kinds"]))
