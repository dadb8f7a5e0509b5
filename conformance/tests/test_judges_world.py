"""The judges of several ranks, on traces written by hand."""

from __future__ import annotations

import dataclasses

import pytest
from written import ORACLE, found, session, trace

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.finding import Finding

EIGHT = Workload(n=8, batch_size=2, epochs=1, sampler="distributed")


def ranked(probe: str, saving: str, worlds: tuple[int, int], resuming: str = "load") -> Case:
    """Write a case of so many ranks that save, and so many that load."""
    before, after = worlds
    plans = [session(saving.replace("s0", f"s{r}"), r, rank=r, world=before) for r in range(before)]
    plans += [
        session(f"load s{r % before}, drain, drain", before + r, rank=r, world=after)
        for r in range(after)
    ]
    return Case(probe, EIGHT, tuple(plans))


def judged(requirement: str, of: Case, *texts: list[str]) -> Finding:
    finding = found(requirement, of, trace(of, *texts), ORACLE)
    assert finding is not None
    return finding


RANKS = ranked("ranks", "take 1, save s0, drain, drain", (2, 2))
SAVED = (["02", "", "46.", "64|20."], ["13", "", "57.", "75|31."])


@pytest.mark.parametrize(
    ("first", "second", "outcome", "kind"),
    [
        (["", "46.", "64|20."], ["", "57.", "75|31."], "pass", ""),
        (["", "46.", "64|20."], ["", "46.", "64|20."], "fails silently", "different"),
        (["", "02|46.", "64|20."], ["", "57.", "75|31."], "fails silently", "repeated"),
        (["", "46.", "64|20."], ["", "57.", "64|20."], "fails silently", "different"),
        (["", "46.", "64|20."], ["!load ValueError another rank's"], "refused", ""),
    ],
)
def test_each_rank_resumes_as_itself(
    first: list[str], second: list[str], outcome: str, kind: str
) -> None:
    finding = judged("WORLD-1", RANKS, *SAVED, first, second)
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    assert finding.outcome == "pass" or "of 2: " in finding.words


def test_a_rank_that_loads_another_ones_state_is_not_asked() -> None:
    swapped = dataclasses.replace(RANKS, sessions=(*RANKS.sessions[:2], RANKS.sessions[3]))
    steps = session("load s0, drain, drain").steps
    third = dataclasses.replace(swapped.sessions[2], steps=steps)
    of = dataclasses.replace(swapped, sessions=(*swapped.sessions[:2], third))
    assert found("WORLD-1", of, trace(of, *SAVED, ["", "57.", "75|31."])) is None


HALVES = (["02", ""], ["13", ""])


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        ([["", "45|67.", "01|23|45|67."]], "pass", ""),
        ([["", "23|45|67.", "01|23|45|67."]], "fails silently", "repeated"),
        ([["", "46.", "01|23|45|67."]], "fails silently", "missing"),
        ([["!load ValueError a state of 2 ranks"]], "pass", ""),
        ([["", "!iter RuntimeError a state of 2 ranks"]], "pass", ""),
        ([["!load KeyError 'world'"]], "fails", "bare error"),
        ([["", "45!next RuntimeError a state of 2 ranks"]], "fails", "late error"),
        ([], "blocked", ""),
    ],
)
def test_fewer_ranks(texts: list[list[str]], outcome: str, kind: str) -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 1))
    finding = judged("WORLD-2", of, *HALVES, *texts)
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words


def test_more_ranks() -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 4))
    good = [["", f"{i}.", "."] for i in (4, 5, 6, 7)]
    assert judged("WORLD-2", of, *HALVES, *good).outcome == "pass"
    lost = [["", f"{i}.", "."] for i in (4, 5, 6)] + [["", ".", "."]]
    assert judged("WORLD-2", of, *HALVES, *lost).kind == "missing"
    # One rank that refuses stops the job.
    assert judged("WORLD-2", of, *HALVES, good[0], ["!load ValueError no"]).outcome == "pass"


def test_a_state_that_no_rank_gives() -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 1))
    unsaved = judged("WORLD-2", of, ["02", "!state ValueError no state of several ranks"])
    assert (unsaved.outcome, unsaved.kind) == ("fails", "save")
    assert judged("WORLD-2", of, ["!next ValueError no"]).outcome == "blocked"


@pytest.mark.parametrize("changes", [{"n": 7}, {"sampler": ""}, {"n": 1, "batch_size": 1}], ids=str)
def test_ranks_that_nobody_deals_to_evenly_are_not_compared(changes: dict[str, object]) -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 1))
    of = dataclasses.replace(of, workload=dataclasses.replace(EIGHT, **changes))  # type: ignore[arg-type]
    assert found("WORLD-2", of, trace(of, *HALVES, ["", "23|45|67.", "."])) is None


def test_of_an_epoch_that_is_delivered_nothing_is_left_to_complete() -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 1))
    of = dataclasses.replace(of, workload=dataclasses.replace(EIGHT, n=4))
    assert found("WORLD-2", of, trace(of, *HALVES, ["", "0|1|2|3."])) is None


def test_ranks_that_are_not_all_there_are_not_compared() -> None:
    of = ranked("resized ranks", "take 1, save s0", (2, 1))
    of = dataclasses.replace(of, sessions=(of.sessions[0], of.sessions[2]))
    assert found("WORLD-2", of, trace(of, ["02", ""], ["", "23|45|67.", "."])) is None
