"""A table judged piece by piece, as a test runner asks: a requirement and kind at a time."""

from __future__ import annotations

import collections
import dataclasses

from midepoch_conformance import judges, requirements
from midepoch_conformance.bench import Bench
from midepoch_conformance.case import Case
from midepoch_conformance.describe import describe
from midepoch_conformance.events import CaseResult
from midepoch_conformance.report import settled
from midepoch_conformance.shrink import size
from midepoch_conformance.summary import failing, prerequisite_cases, settled_results
from midepoch_conformance.verdict import Finding

__all__ = ["Sitting", "Verdict"]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a requirement on a kind of workload comes to, as a test's outcome."""

    failed: bool = False
    skipped: bool = False
    words: str = ""


class Sitting:
    """Judges each case once, when it is first asked for.

    Args:
        bench: plays and judges cases.
        table: the cases.
        loader: the loader as its user names it, for the words.
    """

    def __init__(self, bench: Bench, table: list[Case], loader: str) -> None:
        self._bench = bench
        self._table = table
        self._loader = loader
        self._judged: dict[str, CaseResult] = {}

    def verdict(self, requirement: str, kind: str) -> Verdict:
        """Return the verdict on a requirement for a kind of workload."""
        found = self._settled(requirement, kind)
        failed = [(case, finding) for case, finding in found if failing(finding)]
        if failed:
            return Verdict(failed=True, words=self._failure(failed, len(found)))
        errors = [finding for _, finding in found if finding.outcome == "error"]
        if errors:
            return Verdict(failed=True, words=f"not judged (error): {errors[0].words}")
        counts = collections.Counter(finding.outcome for _, finding in found)
        if counts["pass"]:
            return Verdict()
        return Verdict(skipped=True, words=_reasons(found))

    def _settled(self, requirement: str, kind: str) -> list[tuple[Case, Finding]]:
        """Return the findings, those blocked whose prerequisite fails."""
        chosen = [
            case
            for case in self._table
            if case.workload.kind == kind and requirement in judges.applicable(case)
        ]
        results = [self._judge(case) for case in chosen]
        found = [f for r in results for f in r.findings if f.requirement == requirement]
        needed = prerequisite_cases(self._table, found, {case.id for case in chosen})
        results += [self._judge(case) for case in needed]
        return [
            (result.case, finding)
            for result in settled_results(results)[: len(chosen)]
            for finding in result.findings
            if finding.requirement == requirement
        ]

    def _judge(self, case: Case) -> CaseResult:
        if case.id not in self._judged:
            self._judged[case.id] = self._bench.judge(case)
        return self._judged[case.id]

    def _failure(self, failed: list[tuple[Case, Finding]], asked: int) -> str:
        case, finding = min(failed, key=lambda pair: size(pair[0]))
        requirement = requirements.get(finding.requirement)
        lines = [
            f"{finding.requirement} {finding.outcome} on {case.workload.kind} data, "
            f"{len(failed)} of {asked} cases",
            f"  {requirement.text}",
            f"  case     {describe(case, own=self._bench.info.function)}",
            f"  shown    {settled(finding.words)}",
        ]
        lines += [
            f"  {name:8} {settled(repr(value))}"
            for name, value in (("expected", finding.expected), ("got", finding.got))
            if value is not None
        ]
        command = f"midepoch check {self._loader} --only {finding.requirement}"
        return "\n".join([*lines, f"  script   written by: {command}"])


def _reasons(found: list[tuple[Case, Finding]]) -> str:
    counts = collections.Counter(
        f"{finding.outcome}: {settled(finding.words)}" for _, finding in found
    )
    return "; ".join(f"{words} ({count} cases)" for words, count in counts.most_common(3))
