"""Drawn histories: sound, repeatable, of every rule; broken loaders are found by them."""

from __future__ import annotations

import collections
import dataclasses
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from test_strategies import OFFER
from warm_hosts import TORCH, WarmHosts

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.history import Course, objection, remembers, strict
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families.histories import PLOTS
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.families.tables import has_workers, load_table
from midepoch_conformance.run.bench import Bench
from midepoch_conformance.run.explore import Goal, draw_round
from midepoch_conformance.run.runner import Runner
from midepoch_conformance.search.machine import HistoryMachine, draw_histories
from midepoch_conformance.search.shrink import PLAYS, repaired, shrink, size, smaller, sound
from midepoch_conformance.verdict.finding import FAILURES, Finding

MUTANTS = Path(__file__).parent / "mutants"


@pytest.fixture(scope="module", name="inline")
def inline_histories() -> list[Case]:
    return draw_histories(OFFER, 250, seeded=1)


@pytest.fixture(scope="module", name="multi")
def histories_with_workers() -> list[Case]:
    return draw_histories(OFFER, 100, seeded=1, multi=True)


def steps_of(cases: list[Case]) -> list[Step]:
    return [step for case in cases for plan in case.sessions for step in plan.steps]


def history(*sessions: tuple[Step, ...], **workload: Any) -> Case:
    plans = tuple(SessionPlan(Execution(), steps) for steps in sessions)
    made = Workload(**{"n": 6, "batch_size": 2, "epochs": 6, **workload})
    return Case(HISTORY, made, plans)


def test_the_same_seed_draws_the_same_histories() -> None:
    assert draw_histories(OFFER, 20, seeded=3) == draw_histories(OFFER, 20, seeded=3)
    assert draw_histories(OFFER, 20, seeded=3) != draw_histories(OFFER, 20, seeded=4)


def test_all_drawn_histories_are_sound_and_offered(inline: list[Case], multi: list[Case]) -> None:
    assert len(inline) == 250
    for case in (*inline, *multi):
        assert objection(case) is None
        assert sound(case)
        assert reason_not_offered(case, OFFER) is None
        assert Case.from_json(case.to_json()) == case


def test_workers_are_where_they_are_asked_for(inline: list[Case], multi: list[Case]) -> None:
    assert not any(map(has_workers, inline))
    assert all(map(has_workers, multi))
    assert {len({s.execution.workers for s in case.sessions}) > 1 for case in multi} == {
        True,
        False,
    }


def test_every_action_is_drawn_often(inline: list[Case], multi: list[Case]) -> None:
    counts = collections.Counter(step.do for step in steps_of(inline))
    wanted = {"take", "drain", "break", "save", "seal", "edit", "recode", "load", "load_bogus",
              "close", "open", "kill"}  # fmt: skip
    assert set(counts) == wanted
    assert min(counts.values()) >= 10, counts
    lost = [case for case in multi if any("die_at" in dict(s.workload) for s in case.sessions)]
    assert len(lost) >= 2


def test_every_rule_is_followed() -> None:
    rules = {rule.function.__code__: rule.function.__name__ for rule in rules_of(HistoryMachine)}
    followed: collections.Counter[str] = collections.Counter()

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code in rules:
            followed[rules[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        draw_histories(OFFER, 60, seeded=2)
        draw_histories(OFFER, 60, seeded=2, multi=True)
    finally:
        sys.setprofile(before)
    assert {"resume", "load_while_iterating", "lose_a_worker", "rest"} <= set(rules.values())
    assert set(rules.values()) - set(followed) == set()


def rules_of(machine: type[HistoryMachine]) -> list[Any]:
    return list(machine.setup_state().rules)


def test_a_loader_is_asked_nothing_that_it_does_not_offer() -> None:
    small = Offer(kinds=("iterable",), boundary="stream", shuffles=(False,), saves=("mid",))
    drawn = draw_histories(small, 30, seeded=1)
    steps = steps_of(drawn)
    assert drawn
    assert all(reason_not_offered(case, small) is None and not strict(case) for case in drawn)
    assert not any(step.do == "break" or step.codec not in ("", "pickle") for step in steps)


def test_what_depends_on_earlier_epochs_is_not_broken_off(inline: list[Case]) -> None:
    remembering = [case for case in inline if remembers(case.workload)]
    assert len(remembering) >= 25
    for case in remembering:
        for plan in case.sessions:
            breaks = [n for n, step in enumerate(plan.steps) if step.do == "break"]
            # After a load, or after an iterator of which nothing was taken.
            before = [plan.steps[n - 1] for n in breaks]
            assert all(step.do == "load" or step.n == 0 for step in before)


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


def test_all_candidates_of_a_history_are_sound(inline: list[Case], multi: list[Case]) -> None:
    for case in (*inline[:20], *multi[:20]):
        candidates = list(smaller(case))
        assert candidates
        assert all(sound(candidate) for candidate in candidates)


def test_a_long_history_shrinks_to_what_matters(inline: list[Case]) -> None:
    def fails(case: Case) -> Finding | None:
        wrong = [plan for plan in case.sessions if [s.do for s in plan.steps][:1] == ["load"]]
        edits = any(step.do == "edit" for plan in wrong for step in plan.steps)
        return finding if edits else None

    finding = Finding("RESUME-7", "fails silently", "missing")
    long = [case for case in inline if fails(case) and len(steps_of([case])) > 15]
    assert long
    for case in long[:5]:
        shrunk = shrink(case, finding, fails)
        assert shrunk.plays <= PLAYS
        assert len(steps_of([shrunk.case])) <= 4
        assert len(shrunk.case.sessions) <= 2


def test_the_uninterrupted_run_goes_on_after_a_fault_that_is_caught() -> None:
    steps = oracle_case(history((T,), fail_at=1, epochs=2)).sessions[0].steps
    assert steps == (Step("drain", tolerate=True),) * 4
    assert oracle_case(history((T,), epochs=2)).sessions[0].steps == (D, D)


# Up to 20 s of processor time: the fault of the first shows in few of its 200 histories.
@pytest.mark.usefixtures("warm_hosts")
@pytest.mark.parametrize(
    ("name", "count", "largest"),
    [
        ("break_after_a_resume_starts_over", 200, 8),
        ("second_resume_off", 50, 8),
        ("end_state_drops_epoch", 60, 8),
    ],
)
def test_a_broken_loader_is_found_and_its_history_gets_short(
    name: str, count: int, largest: int
) -> None:
    """As in a check, the smallest of the histories that fail is made smaller."""
    with Runner(f"{MUTANTS / name}.py:Adapter", limit=4.0) as runner:
        bench = Bench(runner)
        failing = [
            (case, finding)
            for number, case in enumerate(draw_histories(runner.info.offer, count, seeded=7))
            for finding in bench.judge(case, number).findings
            if finding.outcome in FAILURES
        ]
        assert failing
        case, finding = min(failing, key=lambda pair: size(pair[0]))
        shrunk = shrink(case, finding, lambda candidate: bench.fails(candidate, finding))
        assert len(steps_of([shrunk.case])) <= largest


def test_good_loaders_fail_no_history(warm_hosts: WarmHosts) -> None:
    warm_hosts.modules = TORCH
    for spec, count in ((f"{MUTANTS / 'base'}.py:Adapter", 40), ("reference", 12)):
        with Runner(spec) as runner:
            bench = Bench(runner)
            drawn = draw_histories(runner.info.offer, count, seeded=11)
            outcomes = [f.outcome for case in drawn for f in bench.judge(case).findings]
        assert set(outcomes) <= {"pass", "not offered"}
        assert outcomes.count("pass") > count / 2


def test_each_plot_is_in_the_quick_table() -> None:
    played = [c for c in load_table("quick") if c.probe == HISTORY]
    assert all(objection(case) is None for case in played)
    assert len(played) >= len(PLOTS)
    assert sum(map(has_workers, played)) >= 2


def test_a_round_has_both_sorts_of_cases_and_the_share_of_workers() -> None:
    drawn = draw_round(OFFER, 1, share=20)
    assert 14 <= sum(map(has_workers, drawn)) <= 20
    # The families have a few written histories, too.
    assert 40 <= sum(case.probe == HISTORY for case in drawn) <= 60
    only = draw_round(OFFER, 1, share=0, only=frozenset({"RESUME-1"}))
    assert not any(case.probe == HISTORY for case in only)


def test_goals_that_cannot_be_reached_are_refused() -> None:
    with pytest.raises(CheckError, match="--with-workers"):
        Goal(workers=3)
    with pytest.raises(CheckError, match="more than"):
        Goal(cases=2, workers=3)
    assert Goal(cases=200, workers=20).share() == 10


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
