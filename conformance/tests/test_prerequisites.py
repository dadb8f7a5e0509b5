"""The cases that decide whether a failure is blocked: those that judge its prerequisites."""

from __future__ import annotations

import dataclasses

from written import CUT, case

from midepoch_conformance.run.summary import prerequisite_cases
from midepoch_conformance.verdict.finding import Finding, place

INLINE, ONE, TWO = (case("stop iteration", "drain", workers=count) for count in range(3))


def test_they_have_the_failures_worker_count() -> None:
    assert prerequisite_cases([INLINE, ONE, TWO], [failure(workers=1)], ()) == [ONE]
    assert prerequisite_cases([INLINE, ONE, TWO], [failure(workers=0)], ()) == [INLINE]


def test_without_one_of_that_count_they_have_any_workers() -> None:
    assert prerequisite_cases([INLINE, TWO], [failure(workers=1)], ()) == [TWO]
    assert prerequisite_cases([ONE, TWO], [failure(workers=0)], ()) == []


def test_a_pass_asks_for_none_and_a_played_case_is_not_returned() -> None:
    passed = dataclasses.replace(failure(workers=1), outcome="pass")
    assert prerequisite_cases([ONE], [passed], ()) == []
    assert prerequisite_cases([ONE], [failure(workers=1)], {ONE.id}) == []


def failure(workers: int) -> Finding:
    finding = Finding("RESUME-7", "fails silently", "missing", "a batch is missing")
    return dataclasses.replace(
        place(finding, case("history", *CUT, workers=workers)), needs=("FAULT-3",)
    )
