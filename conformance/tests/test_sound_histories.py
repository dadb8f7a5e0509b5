"""Histories with one answer: what is sound, what may be answered either way, what is repaired."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.history import Course, objection, strict
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.search.shorter import repaired
from midepoch_conformance.search.shrink import smaller, sound


def history(*sessions: tuple[Step, ...], **workload: Any) -> Case:
    plans = tuple(SessionPlan(Execution(), steps) for steps in sessions)
    made = Workload(**{"n": 6, "batch_size": 2, "epochs": 6, **workload})
    return Case(HISTORY, made, plans)


T, D, B = Step("take", 1), Step("drain"), Step("break")
S, L = Step("save", state="s"), Step("load", state="s")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((T, B, S), "between a break and the next epoch"),
        ((Step("take", 4),), "has 3 left"),
        ((S, T, L, T), "stale"),
        ((L,), "no such state"),
        ((B,), "no epoch is open"),
        ((T, S, S), "of that name"),
        ((T, Step("close"), T), "closed"),
        ((T, Step("open")), "open"),
        ((Step("kill"), T), "over"),
        ((Step("load_bogus", value="none"),), "refuses"),
        ((Step("take", -1), S, D, L, Step("take", -1)), "not sure"),
        (
            (T, S, Step("edit", state="s"), Step("seal", state="s", into="t")),
            "changed after it was saved",
        ),
        ((D, D, D, D, D, D), "too many epochs"),
        ((Step("count"),), "not part of histories"),
    ],
)
def test_what_may_be_answered_either_way_is_not_asked(steps: tuple[Step, ...], words: str) -> None:
    found = objection(history(steps))
    assert found is not None
    assert words in found
    assert not sound(history(steps))


@pytest.mark.parametrize(
    ("steps", "workload"),
    [
        ((T, B, T, S, D), {}),
        ((S, T, L, B, Step("save", state="t"), D), {}),
        ((Step("take", -1), S, L, B, D, D), {}),
        ((Step("take", 1, tolerate=True), S, Step("drain", tolerate=True), L, B), {"fail_at": 2}),
        ((T, S, Step("edit", state="s"), L, B, Step("edit", state="s"), D), {}),
        ((T, S, T, Step("close"), Step("open"), L, D), {}),
    ],
)
def test_what_has_one_answer_is_sound(steps: tuple[Step, ...], workload: dict[str, Any]) -> None:
    assert objection(history(steps, **workload)) is None


def interrupted(*steps: Step, **workload: Any) -> Case:
    """Return a history that is interrupted after a resume."""
    whole = history((T, S), (L, *steps), **workload)
    plan = dataclasses.replace(whole.sessions[1], workload=(("interrupt_at", 3), ("log", "auto")))
    return dataclasses.replace(whole, sessions=(whole.sessions[0], plan))


TRIED, GOES_ON = Step("drain", tolerate=True), Step("take", 1, tolerate=True)


def test_after_an_interrupt_the_same_iterator_goes_on_and_states_are_saved() -> None:
    assert objection(interrupted(TRIED, Step("save", state="t"), GOES_ON, TRIED)) is None
    assert objection(interrupted(TRIED, L, B, TRIED)) is None
    assert "tolerated" in (objection(interrupted(D)) or "")


def test_the_epoch_that_follows_a_break_after_an_interrupt_is_the_loaders_matter() -> None:
    assert "after an error" in (objection(interrupted(TRIED, B)) or "")


def test_an_interrupt_needs_a_sample_and_shrinks_with_the_samples() -> None:
    assert objection(interrupted(TRIED, n=3)) == "the faulty sample does not exist"
    found = [case for case in smaller(interrupted(TRIED)) if case.workload.n == 1]
    assert found
    assert {dict(plan.workload).get("interrupt_at") for c in found for plan in c.sessions[1:]} <= {
        0,
        None,
    }


def test_ambient_numbers_after_an_interrupt_are_promised_by_the_format_alone() -> None:
    assert strict(interrupted(TRIED, draws=("python",)))
    assert not strict(interrupted(TRIED, draws=("private python",), kind="stateful_iterable"))
    assert not strict(interrupted(TRIED))


def test_streams_keep_their_lanes_when_the_worker_count_changes() -> None:
    def case(lanes: int | None, kind: str) -> Case:
        plans = tuple(SessionPlan(Execution(workers=n, lanes=lanes), (D,)) for n in (2, 0))
        return Case(HISTORY, Workload(kind=kind, epochs=2), plans)

    assert objection(case(None, "map")) is None
    assert objection(case(2, "iterable")) is None
    assert objection(case(None, "iterable")) is not None


def test_pieces_that_mean_nothing_any_more_go_with_what_was_left_out() -> None:
    whole = history((T, S, T), (L, T, Step("save", state="t")), (Step("load", state="t"), D))
    gone = dataclasses.replace(whole, sessions=whole.sessions[1:])
    left = repaired(gone)
    assert left is not None
    assert [[step.do for step in plan.steps] for plan in left.sessions] == [
        ["take", "save"],
        ["load", "drain"],
    ]
    assert repaired(history((L,))) is None


def test_the_uninterrupted_run_goes_on_after_a_fault_that_is_caught() -> None:
    steps = oracle_case(history((T,), fail_at=1, epochs=2)).sessions[0].steps
    assert steps == (Step("drain", tolerate=True),) * 4
    assert oracle_case(history((T,), epochs=2)).sessions[0].steps == (D, D)


def test_a_dataset_that_remembers_is_not_begun_anew_where_it_lives_otherwise() -> None:
    course = Course(Workload(kind="stateful_map"))
    steps = (Step("take", 1), Step("save", state="s"))
    course.begin(course.workload, SessionPlan(Execution(workers=1), steps))
    for step in steps:
        assert course.objection(step) is None
        course.follow(step)
    course.begin(course.workload, SessionPlan(Execution(workers=1, persistent=True), ()))
    assert "lives for another time here" in (course.objection(Step("take", 1)) or "")
    course.follow(Step("load", state="s"))
    assert course.objection(Step("take", 1)) is None
