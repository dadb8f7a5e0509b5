"""A check in pieces, for a test runner: one requirement on one kind of workload at a time."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from midepoch_conformance import judges
from midepoch_conformance.case.case import Case
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.run.failures import failing_groups, investigate
from midepoch_conformance.run.known import cover, replay
from midepoch_conformance.run.summary import (
    WITH_WORKERS,
    loads,
    of_sort,
    prerequisite_cases,
    with_blocked,
)
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.text import counted, without_process_ids
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import OUTCOMES, Finding
from midepoch_conformance.verdict.results import CaseResult, Failure, Known, Replayed, failing

__all__ = ["PiecewiseCheck", "Verdict"]

_SHOWN = 5
"""The number of failures of one requirement and kind that are shown with their scripts."""
_REASONS = 3


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The verdict on a requirement for a kind of workload, as a test's outcome."""

    outcome: str
    """``passed``, ``failed``, ``skipped`` (not offered, blocked or refused) or ``known`` (it fails,
    as the file of known failures says)."""
    words: str = ""
    """The reason, if it did not pass."""
    counts: str = ""
    """The number of findings with each outcome, in words."""


class PiecewiseCheck:
    """Judges each case once, when a verdict first needs it.

    Args:
        bench: plays and judges cases.
        table: the cases.
        known: known failures.
        scripts: the folder for the failures' scripts; None for no scripts.
    """

    def __init__(
        self,
        bench: Bench,
        table: list[Case],
        known: Sequence[Known] = (),
        scripts: Scripts | None = None,
    ) -> None:
        self._bench = bench
        self._table = table
        self._known = known
        self._scripts = scripts
        self._judged: dict[str, CaseResult] = {}
        self._replayed: dict[int, Replayed] = {}

    def verdict(self, requirement: str, kind: str) -> Verdict:
        """Return the verdict on a requirement for a kind of workload."""
        results = self._results(requirement, kind)
        findings = [finding for result in results for finding in result.findings]
        numbers = [n for n, entry in enumerate(self._known) if entry.requirement == requirement]
        covered, unknown = cover([self._replay(number) for number in numbers], results)
        counts = _counts(findings)
        failed = [f for result in unknown for f in result.findings if failing(f)]
        if failed:
            return Verdict("failed", self._failures(unknown, failed[0], len(findings)), counts)
        errors = [finding for finding in findings if finding.outcome == "error"]
        if errors:
            return Verdict("failed", f"not judged (error): {errors[0].words}", counts)
        if any(map(failing, findings)):
            links = (f"{r.entry.link}: {r.entry.reason}" for r in covered if r.cases)
            return Verdict("known", f"known: {'; '.join(links)}", counts)
        if any(finding.outcome == "pass" for finding in findings):
            return Verdict("passed", counts=counts)
        return Verdict("skipped", _reasons(findings), counts)

    def resuming(self) -> Verdict:
        """Return whether the loader offers a case of the table that loads a state, unplayed."""
        found: collections.Counter[str] = collections.Counter()
        for case in filter(loads, self._table):
            reason = self._bench.not_offered(case)
            if reason is None:
                return Verdict("passed")
            found[reason] += 1
        own = self._bench.info.offer.reasons.get("saves")
        reason = own if own in found else next((r for r, _ in found.most_common(1)), "")
        return Verdict("failed", f"nothing about resuming can be judged: {reason}")

    def runs(self, sort: str) -> Verdict:
        """Return whether any case with a sort of runs can be judged; the first one is enough.

        Args:
            sort: a key of :data:`.summary.SORTS`.
        """
        if sort != WITH_WORKERS and self.runs(WITH_WORKERS).outcome == "failed":
            return Verdict("skipped", "no run with workers can be judged")
        words: str | None = None
        for case in self._table:
            if not of_sort(case, sort):
                continue
            result = self._judge(case)
            failed = next((f.words for f in result.findings if f.kind == "oracle"), None)
            if result.reason is None and result.findings and failed is None:
                return Verdict("passed")
            words = words or failed
        if words is None:
            return Verdict("skipped", f"the loader offers no {sort}")
        run = sort.replace("runs", "run", 1)
        return Verdict("failed", f"no {run} can be judged: {without_process_ids(words)}")

    def known_verdict(self, number: int) -> Verdict:
        """Return the verdict on a known failure: it must still fail."""
        replayed = self._replay(number)
        counts = _counts([replayed.finding])
        if not replayed.holds:
            return Verdict("failed", replayed.words, counts)
        entry = replayed.entry
        return Verdict("known", f"known: {entry.link}: {entry.reason}", counts)

    def _replay(self, number: int) -> Replayed:
        if number not in self._replayed:
            self._replayed[number] = replay(self._bench.judge, self._known[number])
        return self._replayed[number]

    def _results(self, requirement: str, kind: str) -> list[CaseResult]:
        """Return the results with this requirement's findings; *blocked* ones are marked."""
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
            dataclasses.replace(
                result, findings=tuple(f for f in result.findings if f.requirement == requirement)
            )
            for result in with_blocked(results)[: len(chosen)]
        ]

    def _judge(self, case: Case) -> CaseResult:
        if case.id not in self._judged:
            self._judged[case.id] = self._bench.judge(case)
        return self._judged[case.id]

    def _failures(self, results: list[CaseResult], first: Finding, asked: int) -> str:
        """Return the failures in words, each cause with its smallest case and its script."""
        groups = failing_groups(results, by_kind=True)
        failed = sum(len(group.members) for group in groups)
        lines = [
            f"{first.requirement} {first.outcome} on {first.workload} data, "
            f"{failed} of {asked} cases",
            f"  {requirements.get(first.requirement).text}",
        ]
        for group in groups[:_SHOWN]:
            failure = investigate(self._bench, group, self._scripts, shrinking=False)
            lines += ["", *_told(failure)]
        if len(groups) > _SHOWN:
            lines += ["", f"  and {counted(len(groups) - _SHOWN, 'more cause')}"]
        return "\n".join(lines)


def _told(failure: Failure) -> list[str]:
    finding = failure.finding
    way = ", ".join(filter(None, (finding.outcome, finding.kind, failure.feature)))
    facts = [("case", failure.words), ("shown", f"{without_process_ids(finding.words)} ({way})")]
    facts += [
        (name, without_process_ids(repr(value)))
        for name, value in (("expected", finding.expected), ("got", finding.got))
        if value is not None
    ]
    if failure.script:
        facts.append(("script", failure.script))
    if failure.script_note:
        facts.append(("note", without_process_ids(failure.script_note)))
    return [f"  {name:8} {words}" for name, words in facts]


def _counts(findings: Sequence[Finding]) -> str:
    counts = collections.Counter(finding.outcome for finding in findings)
    return ", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES if counts[outcome])


def _reasons(found: Sequence[Finding]) -> str:
    """Return why nothing was judged, the most important reason first, each once."""
    counts = collections.Counter((f.outcome, without_process_ids(f.words)) for f in found)
    order = sorted(counts, key=lambda reason: (OUTCOMES.index(reason[0]), -counts[reason]))
    return "; ".join(
        f"{outcome}: {words} ({counted(counts[outcome, words], 'case')})"
        for outcome, words in order[:_REASONS]
    )
