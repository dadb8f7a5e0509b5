"""Runs that always fail, and requirements that are blocked everywhere, were not judged."""

from __future__ import annotations

from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.run.piecewise import PiecewiseCheck
from midepoch_conformance.run.summary import (
    SORTS,
    WITH_WORKERS,
    failing_runs,
    only_blocked,
    unjudged,
)
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult

THREADS = Execution(workers=1, worker_kind="thread")
PASSES = Finding("RESUME-1", "pass")
FAILS = Finding("RESUME-7", "not offered", "oracle", "an uninterrupted run fails here")


def result(finding: Finding, execution: Execution, workload: Workload | None = None) -> CaseResult:
    plan = SessionPlan(execution, (Step("drain"), Step("load", state="s")))
    return CaseResult(0, Case("history", workload or Workload(), (plan,)), (finding,))


def test_runs_with_threads_that_always_fail_are_not_judged() -> None:
    others = [result(PASSES, Execution()), result(PASSES, Execution(workers=1))]
    threads = [result(FAILS, THREADS), result(FAILS, THREADS)]
    assert unjudged([*others, *threads]) == ("runs with threads",)
    assert unjudged([*others, *threads, result(PASSES, THREADS)]) == ()


def test_runs_with_workers_cover_those_with_threads() -> None:
    assert failing_runs([result(PASSES, Execution()), result(FAILS, THREADS)]) == (WITH_WORKERS,)


def test_a_sample_that_fails_on_purpose_is_not_counted() -> None:
    meant = result(FAILS, THREADS, Workload(fail_at=1))
    assert failing_runs([result(PASSES, Execution(workers=1)), meant]) == ()


def test_a_requirement_that_was_always_blocked_is_not_judged() -> None:
    blocked = result(Finding("WORLD-3", "blocked", "", "one rank alone fails"), Execution())
    assert only_blocked([result(PASSES, Execution()), blocked]) == ("WORLD-3",)
    fails = result(Finding("BASIS-2", "fails silently", "order"), Execution())
    assert only_blocked([fails, blocked]) == ()


class Judged:
    """A bench whose cases were judged already."""

    def __init__(self, *results: CaseResult) -> None:
        self.by_id = {one.case.id: one for one in results}

    def judge(self, case: Case) -> CaseResult:
        return self.by_id[case.id]


def items(*results: CaseResult) -> dict[str, str]:
    """Return the outcomes of the test items on the sorts of runs."""
    bench: Any = Judged(*results)
    checker = PiecewiseCheck(bench, [one.case for one in results])
    return {sort: checker.runs(sort).outcome for sort in SORTS}


def test_a_test_runner_names_the_runs_that_always_fail() -> None:
    processes = result(PASSES, Execution(workers=1))
    threads = [result(FAILS, THREADS, Workload(n=n)) for n in (12, 13)]
    found = items(processes, *threads)
    assert found.pop("runs with threads") == "failed"
    assert found.pop(WITH_WORKERS) == "passed"
    assert set(found.values()) == {"skipped"}
    assert items(processes, *threads, result(PASSES, THREADS))["runs with threads"] == "passed"


def test_a_test_runner_names_runs_with_workers_alone_if_all_of_them_fail() -> None:
    found = items(result(FAILS, THREADS), result(PASSES, Execution()))
    assert found == {**dict.fromkeys(SORTS, "skipped"), WITH_WORKERS: "failed"}
