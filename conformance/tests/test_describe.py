"""Cases in words."""

from __future__ import annotations

import dataclasses

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import ACTIONS, Case, SessionPlan, Step
from midepoch_conformance.case.words import describe, describe_step, describe_workload
from midepoch_conformance.case.workload import KINDS, Workload
from midepoch_conformance.families import tables
from midepoch_conformance.families.unusual.aspects import UNUSUAL


def test_a_whole_case() -> None:
    first = (Step("take", 1), Step("take", 1), Step("save", state="s0", codec="json"))
    second = (Step("load", state="s0", codec="json"), Step("drain"), Step("close"))
    case = Case(
        "cut",
        Workload(kind="iterable", n=3, batch_size=1, draws=("numpy",), fail_at=2),
        (
            SessionPlan(Execution(workers=1, interval=3), first),
            SessionPlan(
                Execution(workers=2, interval=3),
                second,
                ambient=2,
                host="b",
                workload=(("batch_size", 2),),
            ),
        ),
    )
    assert describe(case) == (
        "an iterable of 3 samples in batches of 1, each drawing from numpy.random, sample 2 "
        "raises, 1 worker, a snapshot every 3 steps: deliver 1 batch (2 times), save through "
        "json; in a new process (2 workers, a snapshot every 3 steps, batch_size 2) load "
        "through json, deliver the rest of the epoch, close"
    )


def test_the_same_surroundings_are_told() -> None:
    plan = SessionPlan(Execution(), (Step("drain"),))
    words = describe(Case("cut", Workload(), (plan, plan)))
    assert "in a new process (the same hash seed and random streams)" in words


def test_states_have_names_where_there_are_several() -> None:
    steps = (Step("save", state="a"), Step("seal", state="a", into="b"))
    words = describe(Case("state", Workload(), (SessionPlan(Execution(), steps),)))
    assert "save state a, encode state a again" in words


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_has_words(action: str) -> None:
    assert describe_step(Step(action, state="s", value="none", tolerate=True)).startswith("try to ")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("drain", "deliver 1 whole epoch"),
        ("drain drain", "deliver 2 whole epochs"),
        ("take drain", "deliver 2 batches, deliver the rest of the epoch"),
        ("load drain drain", "load, deliver the rest of the epoch and the next epoch"),
        ("load drain drain drain", "load, deliver the rest of the epoch and the next 2 epochs"),
        ("take break drain", "deliver 2 batches, break the epoch off, deliver 1 whole epoch"),
    ],
)
def test_epochs_are_told_apart(steps: str, words: str) -> None:
    plan = SessionPlan(Execution(), tuple(Step(do, 2 * (do == "take")) for do in steps.split()))
    assert describe(Case("cut", Workload(), (plan,))).endswith(f"no workers: {words}")


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            Workload("stateful_iterable", state_at="both", tree="growing"),
            "a Stateful iterable of 13 samples with its state on the dataset and the iterator, in "
            "batches of 4, the dataset adds a growing tree to its state",
        ),
        (
            Workload("stateful_map", draws=("private numpy",)),
            "13 samples that count fetches in their state in batches of 4, each drawing "
            "from a NumPy generator of the dataset's",
        ),
        (
            Workload(sampler="custom", grow=-3, gate=(0, 6)),
            "13 samples in batches of 4, a sampler of the user's with a generator of its own, the "
            "user sets 3 samples less for each next epoch, sample 0 waits until another worker "
            "has fetched sample 6",
        ),
        (
            Workload(tail="rollover", die_at=6, die_once=True),
            "13 samples in batches of 4, left-over samples open the next epoch, sample 6 kills "
            "its process once",
        ),
        (
            Workload(fail_at=3, fails_in="collate_fn"),
            "13 samples in batches of 4, collate_fn with sample 3 raises",
        ),
        (
            Workload("iterable", stream="hollow", fail_at=-1),
            "an iterable of 13 samples of which some workers have none, in batches of 4, the "
            "dataset raises when it is set up",
        ),
    ],
)
def test_unusual_workloads_have_words(workload: Workload, words: str) -> None:
    assert describe_workload(workload) == words


def test_every_unusual_workload_is_told_apart() -> None:
    usual = {describe_workload(Workload(kind)) for kind in KINDS}
    works = (
        dataclasses.replace(Workload(kind), **dict(work.fields))
        for work in UNUSUAL.values()
        for kind in work.kinds
        if work.fields
    )
    told = [describe_workload(w) for w in works]
    assert len(set(told)) == len(told)
    assert not usual & set(told)


@pytest.mark.parametrize("profile", tables.PROFILES)
def test_every_case_of_the_tables_has_words(profile: str) -> None:
    assert all(describe(case) for case in tables.load_table(profile))
