"""Programs cut into pieces: sound, repeatable, offered with care, and made smaller."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from test_drawn_histories import PLAINEST
from test_strategies import OFFER
from warm_hosts import TORCH, WarmHosts
from written import found, trace

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import PROGRAM, Case, CaseError, Step, has_workers
from midepoch_conformance.case.programs import (
    Piece,
    leaves_at_an_end,
    misplaced,
    pieces_of,
    programmed,
)
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.families.tables import load_table
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.search.fewer_parts import fewer_moves, is_program
from midepoch_conformance.search.programs import BUDGETS, draw_programs
from midepoch_conformance.search.shrink import size, smaller, sound
from midepoch_conformance.verdict.finding import FAILURES

MUTANTS = Path(__file__).parent / "mutants"
TAKE, DRAIN, BREAK = Step("take", 1), Step("drain"), Step("break")
PLAIN = Execution()


@pytest.fixture(scope="module", autouse=True)
def few_histories() -> None:
    """Draw as many programs as a profile has."""


def program(*moves: tuple[Step, ...], w: Workload | None = None, **facts: int) -> Case:
    w = w or Workload(n=9, batch_size=2)
    return programmed(w, PLAIN, [Piece(Execution(**facts), steps) for steps in moves])


@pytest.fixture(scope="module", name="drawn")
def programs_of_quick() -> list[Case]:
    return draw_programs("quick", OFFER, seed=1)


def test_they_are_drawn_again_from_the_same_seed_and_all_may_be_asked(drawn: list[Case]) -> None:
    assert drawn == draw_programs("quick", OFFER, seed=1)
    assert len(drawn) == sum(BUDGETS["quick"])
    assert sum(map(has_workers, drawn)) <= BUDGETS["quick"][1]
    assert all(misplaced(case) is None for case in drawn)
    assert all(reason_not_offered(case, OFFER) is None for case in drawn)
    asked = [step.do for case in drawn for step in case.sessions[0].steps]
    assert asked.count("break") > len(drawn) / 2


def test_the_table_has_some_without_workers() -> None:
    for profile in ("quick", "full"):
        found = [case for case in load_table(profile) if case.probe == PROGRAM]
        assert all(misplaced(case) is None for case in found)
        assert len(found) >= 3


def test_a_case_of_other_sessions_is_no_program() -> None:
    case = program((TAKE,), (DRAIN,))
    assert pieces_of(case) == [Piece(PLAIN, (TAKE,)), Piece(PLAIN, (DRAIN,))]
    for sessions in (case.sessions[:1], case.sessions[1:], case.sessions[::-1]):
        other = dataclasses.replace(case, sessions=sessions)
        with pytest.raises(CaseError, match="its pieces"):
            pieces_of(other)
        assert not is_program(other)


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (((TAKE, BREAK), (DRAIN,)), "may describe either epoch"),
        (((TAKE,), (BREAK, DRAIN)), "no epoch is open"),
        (((TAKE,), (), (DRAIN,)), "may describe either epoch"),
        (((Step("take", 6), DRAIN),), "the epoch has 5 left"),
    ],
)
def test_what_has_no_one_answer_is_not_asked(
    moves: tuple[tuple[Step, ...], ...], words: str
) -> None:
    assert words in (misplaced(program(*moves)) or "")


def test_without_the_format_only_what_every_loader_must_do_is_asked() -> None:
    broken = ((TAKE, BREAK, TAKE), (DRAIN, DRAIN))
    remembering = Workload(kind="stateful_map", n=9, batch_size=2)
    at_an_end = program((Step("take", 5),), (DRAIN, DRAIN))
    failing = program((dataclasses.replace(DRAIN, tolerate=True),), w=Workload(fail_at=3))
    offer = dataclasses.replace(PLAINEST, kinds=("map", "stateful_map"), workers=(0, 2))
    assert leaves_at_an_end(at_an_end)
    assert reason_not_offered(program(*broken), offer) is None
    assert reason_not_offered(program(*broken, w=remembering), offer) is None
    for case, words in (
        (at_an_end, "an empty epoch"),
        (program(*broken, w=remembering, workers=2), "read ahead"),
        (failing, "tried again"),
    ):
        assert words in (reason_not_offered(case, offer) or "")


def test_they_become_smaller(drawn: list[Case]) -> None:
    case = max((one for one in drawn if len(one.sessions) > 3), key=size)
    candidates = list(smaller(case))
    assert candidates
    assert all(sound(one) for one in candidates)
    assert any(len(one.sessions) < len(case.sessions) for one in fewer_moves(case))
    assert any(size(one) < size(case) for one in candidates)


BROKEN = program((TAKE, BREAK, TAKE), (DRAIN, DRAIN), w=Workload(n=3, batch_size=1))
ALONE = ["0", "", "0", "12.", "012."]


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [
        ([ALONE, ["0", "", "0", ""], ["", "12.", "012."]], "pass"),
        ([ALONE, ["0", "", "0", ""], ["", "2.", "012."]], "fails silently"),
        ([ALONE, ["0", "", "1", ""], ["", "12.", "012."]], "fails silently"),
    ],
)
def test_the_pieces_are_compared_with_the_whole(texts: list[list[str]], outcome: str) -> None:
    finding = found("RESUME-7", BROKEN, trace(BROKEN, *texts), None)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(
    ("kind", "drains", "outcome"),
    [
        ("stateful_map", 0, "fails"),
        ("stateful_map", 1, "pass"),
        ("stateful_iterable", 1, "fails"),
        ("stateful_iterable", 2, "pass"),
    ],
)
def test_a_state_is_refused_only_where_the_dataset_told_none(
    kind: str, drains: int, outcome: str
) -> None:
    w = Workload(kind=kind, n=3, batch_size=1, unsaved=2)
    of = program((*(DRAIN,) * drains, TAKE), (DRAIN, DRAIN), w=w)
    epochs, rest = ["012."] * drains, ["12.", "012."]
    refused = "!state SnapshotError the dataset could not tell its state"
    finding = found("RESUME-7", of, trace(of, [*epochs, "0", *rest], [*epochs, "0", refused]), None)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        (None, {"pass", "not offered"}),
        ("break_after_a_resume_starts_over", set(FAILURES)),
    ],
)
def test_they_judge(name: str | None, outcomes: set[str], warm_hosts: WarmHosts) -> None:
    warm_hosts.modules = TORCH
    with Runner("reference" if name is None else f"{MUTANTS / name}.py:Adapter") as runner:
        bench = Bench(runner)
        drawn = draw_programs("quick", runner.info.offer, seed=1, declines=runner.declines)
        outcome = {f.outcome for case in drawn[:30] for f in bench.judge(case).findings}
    assert outcome <= outcomes if name is None else outcome & outcomes


def test_an_iterator_that_is_looked_at_belongs_to_the_next_epoch() -> None:
    look = Step("take", 0)
    looked = program((TAKE, BREAK, look), (TAKE, DRAIN))
    assert misplaced(looked) is None
    assert reason_not_offered(looked, Offer(formats=("midepoch",))) is None
    assert "untouched" in (reason_not_offered(looked, Offer()) or "")
    left = program((TAKE, BREAK, look, BREAK, TAKE), (DRAIN,))
    assert "no session" in (misplaced(left) or "")
