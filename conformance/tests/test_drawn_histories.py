"""Drawn histories: sound, repeatable, of every rule; broken loaders are found by them."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulated import Engine
from test_strategies import OFFER
from warm_hosts import TORCH, WarmHosts

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, PROGRAM, Case, Step, has_workers
from midepoch_conformance.case.history import FAULTS, objection, remembers, strict
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import CheckError
from midepoch_conformance.facts.cases import facts_of
from midepoch_conformance.facts.resumes import AXES, Value, offered_values, resumes
from midepoch_conformance.families import tables
from midepoch_conformance.families.family import families
from midepoch_conformance.families.histories import PLOTS
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.families.tables import PROFILES, load_table
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.explore import Goal, draw_round
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.search import steering
from midepoch_conformance.search.chain import draw_history
from midepoch_conformance.search.draws import Chance, Unplayable
from midepoch_conformance.search.programs import draw_programs
from midepoch_conformance.search.ranks import draw_rank_histories
from midepoch_conformance.search.shrink import PLAYS, shrink, size, smaller, sound
from midepoch_conformance.search.steering import BUDGETS, Drawn, Steering, draw_histories, pairs
from midepoch_conformance.verdict.finding import FAILURES, Finding

MUTANTS = Path(__file__).parent / "mutants"


@pytest.fixture(scope="module", autouse=True)
def few_histories() -> None:
    """Draw as many histories as a profile has."""


SMALL = Offer(kinds=("iterable",), boundary="stream", shuffles=(False,), saves=("mid",))


@pytest.fixture(scope="module", name="drawn")
def histories_of_quick() -> Drawn:
    return draw_histories("quick", OFFER, seed=1)


@pytest.fixture(scope="module", name="inline")
def inline_histories(drawn: Drawn) -> list[Case]:
    return [case for case in drawn.cases if not has_workers(case)]


@pytest.fixture(scope="module", name="multi")
def histories_with_workers(drawn: Drawn) -> list[Case]:
    return [case for case in drawn.cases if has_workers(case)]


def chosen(offer: Offer, count: int, seed: int, multi: bool = False) -> list[Case]:
    return Steering(offer).choose(count, Chance(str(seed)), multi)


def steps_of(cases: list[Case]) -> list[Step]:
    return [step for case in cases for plan in case.sessions for step in plan.steps]


def test_the_same_offer_and_seed_give_the_same_histories(drawn: Drawn) -> None:
    again = draw_histories("quick", OFFER, seed=1)
    assert again == drawn
    assert chosen(OFFER, 10, seed=1) != chosen(OFFER, 10, seed=2)


def test_streams_raise_and_samples_are_slow_in_some_of_them(
    inline: list[Case], multi: list[Case]
) -> None:
    raising = [c.workload for c in inline if c.workload.fail_at is not None]
    streams = {w.fails_in for w in raising if w.kind in ("iterable", "stateful_iterable")}
    assert streams == {"dataset", "collate_fn"}
    assert any(w.fails_also for w in raising)
    assert any(c.workload.slow for c in multi)
    assert not any(c.workload.slow for c in inline)


def test_the_order_of_sets_does_not_matter() -> None:
    code = (
        "from test_strategies import OFFER; from midepoch_conformance.families import tables;"
        "from midepoch_conformance.search.draws import Chance;"
        "from midepoch_conformance.search.steering import Steering;"
        "print(tables.table_digest(Steering(OFFER).choose(12, Chance('1'), False)))"
    )
    tests = {"PYTHONPATH": str(Path(__file__).parent)}
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **tests, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_a_check_plays_them_and_makes_what_fails_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "BUDGETS", {"quick": (1, 14, 0)})
    monkeypatch.setattr(tables, "load_table", lambda profile: [])
    settings = Settings("simulated", jobs=1, only=("RESUME-7",))

    def forgets(case: Case, session: int) -> bool:
        return session == 1

    check = run_check(settings, opener=lambda: Engine(forgets))
    assert len(check.results) > 14
    assert check.facts.drawn is not None
    assert check.facts.drawn["histories"] == len(check.results)
    # Histories that fail in one way are one failure, whatever their workloads.
    assert len({failure.finding.kind for failure in check.failures}) == len(check.failures)
    assert sum(failure.cases for failure in check.failures) > len(check.failures)
    for failure in check.failures:
        assert failure.shrunk > 0
        assert len(failure.case.sessions) == 2
        assert len(steps_of([failure.case])) <= 6
    good = run_check(settings, opener=Engine)
    assert not good.failures


def test_all_drawn_histories_are_sound_and_offered(inline: list[Case], multi: list[Case]) -> None:
    for case in (*inline, *multi):
        assert objection(case) is None
        assert sound(case)
        assert reason_not_offered(case, OFFER) is None
        assert Case.from_json(case.to_json()) == case


def test_the_budget_is_counted_in_cases(inline: list[Case], multi: list[Case]) -> None:
    """Those that the last pairs need come on top: seldom more than a pair each."""
    _, alone, workers = BUDGETS["quick"]
    assert alone <= len(inline) <= alone + 50
    assert workers <= len(multi) <= workers + 60


def test_every_pair_of_offered_values_is_played_together_or_has_its_reason(drawn: Drawn) -> None:
    played = {frozenset(pair) for case in drawn.cases for pair in pairs(case)}
    unreached = {frozenset(pair) for pair in drawn.unreached}
    values = offered_values(OFFER)
    assert tuple(values) == AXES
    for one, other in itertools.combinations(values, 2):
        for pair in itertools.product(values[one], values[other]):
            wanted = frozenset(zip((one, other), pair, strict=True))
            assert (wanted in played) is (wanted not in unreached), wanted
    # What cannot be together: streams and orders of their own, and settings of absent workers.
    assert len(unreached) < 120
    for pair in unreached:
        axes = {axis for axis, _ in pair}
        assert axes & {"kind", "sampler", "workers", "saved", "unusual"}, pair


def test_every_offered_number_of_workers_is_drawn(drawn: Drawn) -> None:
    counts = {plan.execution.workers for case in drawn.cases for plan in case.sessions}
    assert counts == set(OFFER.workers)
    pairs_of_most = [pair for case in drawn.cases for pair in pairs(case) if ("workers", 5) in pair]
    with_prefetch = {value for pair in pairs_of_most for axis, value in pair if axis == "prefetch"}
    assert with_prefetch == set(offered_values(OFFER)["prefetch"])


PLAINEST = Offer(
    kinds=("map", "iterable", "stateful_iterable"),
    workers=(0, 1, 2, 3),
    worker_kinds=("process", "thread"),
    tails=("keep", "drop"),
    intervals=(1, 2, 3, 100),
    persistent=(False, True),
    fixed_plan=("map",),
)
"""A loader with workers, but without anything unusual."""


def reached(cases: list[Case]) -> set[Value]:
    return {
        value
        for case in cases
        for facts in resumes(case)
        for axis, value in facts
        if axis == "reached"
    }


NOT_IN_QUICK = {"many batches"}


@pytest.mark.parametrize("profile", PROFILES)
def test_each_family_has_the_facts_without_which_it_shows_little(profile: str) -> None:
    table = load_table(profile)
    for one in families():
        assert one.bites, one.name
        cases = [case for case in table if case.probe == one.name]
        plain = [case for case in cases if reason_not_offered(case, PLAINEST) is None]
        # A family that the plainest loader does not offer is looked at as it stands in the table.
        found = {fact for case in plain or cases for fact in facts_of(case)}
        if profile == "quick" and one.name in NOT_IN_QUICK:
            assert not cases
            continue
        assert found >= set(one.bites), (one.name, set(one.bites) - found)


def test_histories_bite_for_the_plainest_loader() -> None:
    found = reached(draw_histories("quick", PLAINEST, seed=1).cases)
    assert found >= {
        *("a tail", "a tail dropped", "less than a batch", "an ended lane"),
        *("fewer batches left than workers", "fewer batches since the load than workers"),
        *("a full window", "a window beyond the end", "a replay from the beginning"),
        *("off the interval", "on the interval", "an interval longer than the epoch"),
        *("a snapshot of the pass before", "a late epoch of a resumed resume"),
        *("a fault after a resume", "a fault in the first batch"),
        *("an older state", "loaded again", "loaded after a broken epoch"),
        *("no workers than before", "more workers than before", "fewer workers than before"),
        *("another interval than before", "another prefetch than before"),
        *("another persistent than before", "another worker_kind than before"),
    }


def test_chains_and_epochs_are_long(drawn: Drawn) -> None:
    depths = [len(resumes(case)) for case in drawn.cases]
    assert max(depths) >= 6
    assert max(case.workload.epochs for case in drawn.cases) >= 5
    late = sum(("epoch", 3) in facts for case in drawn.cases for facts in resumes(case))
    assert late > 20


def test_every_action_and_every_fault_is_drawn_often(drawn: Drawn) -> None:
    counts = collections.Counter(step.do for step in steps_of(drawn.cases))
    wanted = {"take", "drain", "break", "save", "seal", "edit", "recode", "load", "load_bogus",
              "close", "open", "kill", "beside", "name_epoch"}  # fmt: skip
    assert counts.pop("lose") > 0  # a worker that is replaced: few loaders replace any
    assert set(counts) == wanted
    assert min(counts.values()) >= 10, counts
    faults = collections.Counter(
        name for case in drawn.cases for plan in case.sessions for name, _ in plan.workload
    )
    assert min(faults[name] for name in FAULTS) >= 5, faults
    at_once = [
        f
        for case in drawn.cases
        for f in resumes(case)
        if ("reached", "a fault in the first batch") in f
    ]
    assert at_once


def test_faults_are_drawn_in_first_sessions_and_after_several_resumes(drawn: Drawn) -> None:
    depths: dict[str, set[int]] = {"fail_at": set(), "stop_at": set(), "interrupt_at": set()}
    for case in (*drawn.cases, *chosen(OFFER, 1500, seed=4)):
        depth: dict[str, int] = {}
        for plan in case.sessions:
            here = 0
            for step in plan.steps:
                if step.do == "load":
                    here = depth[step.state] + 1
                elif step.do in ("seal", "recode"):
                    depth[step.into] = depth[step.state]
                elif step.do == "save":
                    depth[step.state] = here
                elif step.tolerate:
                    for field in depths.keys() & dict(plan.workload):
                        depths[field].add(here)
    assert all(found >= {0, 1, 2, 3} for found in depths.values()), depths


def test_states_are_saved_after_an_interrupt_and_loaded(drawn: Drawn) -> None:
    facts = [facts for case in drawn.cases for facts in resumes(case)]
    after = [one for one in facts if ("reached", "saved after an interrupt") in one]
    assert {value for one in after for axis, value in one if axis == "kind"} == set(OFFER.kinds)
    assert any(("resumes", 3) in one for one in after)


def test_wishes_are_met() -> None:
    wishes = {"kind": "stateful_map", "saved": "end", "ended": "killed", "resumes": 3}
    wishes |= {"unusual": ""}  # where a sample raises, the end may be out of reach
    for number in range(200):
        try:
            case = draw_history(Chance(f"wished {number}"), OFFER, False, wishes)
        except Unplayable:
            continue
        if any(facts >= set(wishes.items()) for facts in resumes(case)):
            return
    pytest.fail("no draw has what is wished")


def test_an_adapter_s_own_exceptions_are_kept() -> None:
    def declines(w: Workload, x: Execution) -> str | None:
        return "no primes" if w.n in (5, 7, 11, 13) else None

    drawn = draw_histories("quick", Offer(), 1, declines)
    assert drawn.cases
    assert not any(case.workload.n in (5, 7, 11, 13) for case in drawn.cases)


def test_a_loader_is_asked_nothing_that_it_does_not_offer() -> None:
    drawn = chosen(SMALL, 30, seed=1)
    steps = steps_of(drawn)
    assert drawn
    assert all(reason_not_offered(case, SMALL) is None and not strict(case) for case in drawn)
    assert not any(step.do == "break" or step.codec not in ("", "pickle") for step in steps)


@pytest.mark.parametrize("offer", [Offer(saves=()), Offer(codecs=()), Offer(saves=(), codecs=())])
def test_a_loader_without_a_state_has_no_histories(offer: Offer) -> None:
    assert draw_histories("quick", offer, seed=1) == Drawn([], {})
    assert draw_programs("quick", offer, seed=1) == []
    assert draw_rank_histories("quick", dataclasses.replace(offer, extras=("world",)), seed=1) == []


def test_later_choices_reach_what_earlier_ones_have_not() -> None:
    steering = Steering(OFFER)
    first = steering.choose(20, Chance("first"), multi=False)
    reached = len(steering.reached)
    second = steering.choose(20, Chance("second"), multi=False)
    assert len(steering.reached) > reached + 200
    assert not {case.id for case in first} & {case.id for case in second}


def test_what_depends_on_earlier_epochs_is_not_broken_off(inline: list[Case]) -> None:
    remembering = [case for case in inline if remembers(case.workload)]
    assert len(remembering) >= 15
    for case in remembering:
        for plan in case.sessions:
            breaks = [n for n, step in enumerate(plan.steps) if step.do == "break"]
            # After a load, or after an iterator of which nothing was taken.
            before = [[step for step in plan.steps[:n] if step.do != "edit"][-1] for n in breaks]
            assert all(step.do == "load" or step.n == 0 for step in before), before


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
        left = len(steps_of([shrunk.case]))
        assert left <= (4 if shrunk.plays < PLAYS else 6)  # a few are not done with their plays
        assert len(shrunk.case.sessions) <= 2


# The seeds are of histories that are made smaller in seconds; with others it takes up to a minute.
@pytest.mark.usefixtures("warm_hosts")
@pytest.mark.parametrize(
    ("name", "count", "seed", "largest"),
    [
        ("second_resume_off", 40, 8, 8),
        ("end_state_drops_epoch", 60, 7, 8),
    ],
)
def test_a_broken_loader_is_found_and_its_history_gets_short(
    name: str, count: int, seed: int, largest: int
) -> None:
    """As in a check, the smallest of the histories that fail is made smaller."""
    with Runner(f"{MUTANTS / name}.py:Adapter", limit=4.0) as runner:
        bench = Bench(runner)
        failures = (
            (case, finding)
            for number, case in enumerate(chosen(runner.info.offer, count, seed=seed))
            for finding in bench.judge(case, number).findings
            if finding.outcome in FAILURES
        )
        failing = list(itertools.islice(failures, 4))
        assert failing
        case, finding = min(failing, key=lambda pair: size(pair[0]))
        shrunk = shrink(case, finding, lambda candidate: bench.fails(candidate, finding))
        assert len(steps_of([shrunk.case])) <= largest


def test_good_loaders_fail_no_history(warm_hosts: WarmHosts) -> None:
    warm_hosts.modules = TORCH
    for spec, count in ((f"{MUTANTS / 'base'}.py:Adapter", 40), ("reference", 12)):
        with Runner(spec) as runner:
            bench = Bench(runner)
            drawn = chosen(runner.info.offer, count, seed=11)
            outcomes = [f.outcome for case in drawn for f in bench.judge(case).findings]
        assert set(outcomes) <= {"pass", "not offered"}
        assert outcomes.count("pass") > count / 2


def test_each_plot_is_in_the_quick_table() -> None:
    played = [c for c in load_table("quick") if c.probe == HISTORY]
    assert all(objection(case) is None for case in played)
    assert len(played) >= len(PLOTS)
    assert sum(map(has_workers, played)) >= 2


def test_a_round_has_both_sorts_of_cases_and_the_share_of_workers() -> None:
    drawn = draw_round(Steering(OFFER), 1, share=20)
    assert 14 <= sum(map(has_workers, drawn)) <= 20
    # The families have a few written histories, too.
    assert 40 <= sum(case.probe in (HISTORY, PROGRAM) for case in drawn) <= 60
    assert any(case.probe == PROGRAM for case in drawn)
    only = draw_round(Steering(OFFER), 1, share=0, only=frozenset({"RESUME-1"}))
    assert not any(case.probe == HISTORY for case in only)


def test_goals_that_cannot_be_reached_are_refused() -> None:
    with pytest.raises(CheckError, match="--with-workers"):
        Goal(workers=3)
    with pytest.raises(CheckError, match="more than"):
        Goal(cases=2, workers=3)
    assert Goal(cases=200, workers=20).share() == 10
