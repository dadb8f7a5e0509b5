"""Shrinking: its results, its cost, and that each of its cases is sound."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.search.shrink import HANG_PLAYS, PLAYS, shrink, size, smaller, sound
from midepoch_conformance.verdict.finding import Finding

FAILS = Finding("RESUME-1", "fails silently", "missing")


def large() -> Case:
    """Three sessions, up to three workers, all axes away from their defaults."""
    first = SessionPlan(
        Execution(workers=3, interval=2, prefetch=4),
        (Step("take", 3), Step("save", state="s0"), Step("close")),
    )
    second = SessionPlan(
        Execution(workers=2, interval=2, prefetch=4),
        (Step("load", state="s0"), Step("take", 1), Step("save", state="s1")),
        ambient=2,
        host="b",
    )
    third = SessionPlan(
        Execution(workers=2, interval=2, prefetch=4),
        (Step("load", state="s1"), Step("drain"), Step("drain")),
        ambient=3,
    )
    workload = Workload(n=16, batch_size=3, epochs=3, shuffle=True, seed=7, draws=("python",))
    return Case("chain", workload, (first, second, third))


def failing_when(test: Callable[[Case], bool]) -> Callable[[Case], Finding | None]:
    return lambda case: FAILS if test(case) else None


def test_whatever_fails_always_ends_tiny() -> None:
    shrunk = shrink(large(), FAILS, failing_when(lambda case: True))
    assert size(shrunk.case)[:3] == (0, 0, 2)
    assert shrunk.case.workload == Workload(n=1, batch_size=1, epochs=1)
    assert shrunk.plays <= PLAYS
    assert all(plan.execution == Execution() for plan in shrunk.case.sessions)


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_stay_where_they_matter(workers: int) -> None:
    def fails(case: Case) -> bool:
        return max(plan.execution.workers for plan in case.sessions) >= workers

    shrunk = shrink(large(), FAILS, failing_when(fails))
    counts = [plan.execution.workers for plan in shrunk.case.sessions]
    # Once all are alike they stay so: a change of the count would be another cause.
    assert counts == [workers] * len(counts)


def test_a_changed_count_stays_where_that_matters() -> None:
    def fails(case: Case) -> bool:
        return len({plan.execution.workers for plan in case.sessions}) > 1

    shrunk = shrink(large(), FAILS, failing_when(fails))
    counts = [plan.execution.workers for plan in shrunk.case.sessions]
    assert sorted(set(counts)) == [0, 1]


def test_a_chain_stays_a_chain_where_that_matters() -> None:
    shrunk = shrink(large(), FAILS, failing_when(lambda case: len(case.sessions) == 3))
    assert len(shrunk.case.sessions) == 3
    assert shrunk.case.workload.n == 1


def test_dropping_a_resume_relinks_the_states() -> None:
    chain = large()
    dropped = next(case for case in smaller(chain) if len(case.sessions) == 2)
    assert dropped.sessions[1].steps[0] == Step("load", state="s0")
    assert sound(dropped)


def test_no_play_beyond_the_bound() -> None:
    plays: list[str] = []

    def never(case: Case) -> Finding | None:
        plays.append(case.id)
        return None

    shrunk = shrink(large(), FAILS, never, plays=7)
    assert len(plays) == len(set(plays)) == 7
    assert shrunk.case == large()
    plays.clear()
    shrink(large(), dataclasses.replace(FAILS, kind="hang"), never)
    assert len(plays) == HANG_PLAYS


def test_every_candidate_is_sound_and_none_is_the_case_itself() -> None:
    case = dataclasses.replace(large(), workload=Workload(n=12, batch_size=4, fail_at=5))
    candidates = list(smaller(case))
    assert candidates
    for candidate in candidates:
        assert candidate.workload.fail_at is not None
        assert candidate.workload.fail_at < candidate.workload.n
        assert candidate != case


def test_cases_that_ask_for_what_is_not_there_are_not_sound() -> None:
    plan = SessionPlan(Execution(), (Step("take", 3),))
    assert sound(Case("cut", Workload(n=9, batch_size=3), (plan,)))
    assert not sound(Case("cut", Workload(n=8, batch_size=3), (plan,)))
    lost = SessionPlan(Execution(), (Step("load", state="s0"),))
    assert not sound(Case("cut", Workload(), (lost,)))


def test_size_puts_workers_first() -> None:
    few = Case("cut", Workload(n=100), (SessionPlan(Execution(workers=1), ()),))
    many = Case("cut", Workload(n=1), (SessionPlan(Execution(workers=2), ()),))
    assert size(few) < size(many)


@pytest.mark.parametrize(
    ("steps", "good"),
    [
        ("close count open take close count", True),
        ("take count kill", True),
        ("close kill", True),
        ("close take", False),
        ("close close", False),
        ("open", False),
        ("take open", False),
        ("kill take", False),
        ("close count", True),
    ],
)
def test_what_a_closed_and_a_dead_session_can_do(steps: str, good: bool) -> None:
    taken = tuple(Step(do, n=1 if do == "take" else 0) for do in steps.split())
    assert sound(Case("held", Workload(), (SessionPlan(Execution(), taken),))) is good


def test_only_a_known_state_is_recoded() -> None:
    saved, recoded = Step("save", state="s"), Step("recode", state="s", into="t")
    for steps, good in (((saved, recoded, Step("load", state="t")), True), ((recoded,), False)):
        assert sound(Case("codec", Workload(), (SessionPlan(Execution(), steps),))) is good
