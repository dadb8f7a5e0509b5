"""Drawn cases: sound, offered, repeatable, and of every family."""

from __future__ import annotations

import dataclasses

import pytest

from midepoch_conformance.case.adapter import EXTRAS, Offer
from midepoch_conformance.case.case import has_workers
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families.family import FAMILIES
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.judges import applicable
from midepoch_conformance.search.shrink import sound
from midepoch_conformance.search.strategies import draw_cases

OFFER = Offer(
    name="all",
    kinds=KINDS,
    workers=(0, 1, 2, 3, 5),
    draws=("python", "numpy", "torch", "own", *GENERATORS),
    codecs=("pickle", "torch", "json", "bytes"),
    fixed_plan=KINDS,
    worker_kinds=("process", "thread"),
    orders=(True, False),
    tails=("keep", "drop", "rollover"),
    intervals=(1, 2, 3, 100),
    persistent=(False, True),
    start_methods=("fork", "spawn"),
    formats=("midepoch",),
    extras=tuple(EXTRAS),
)


def test_the_same_seed_draws_the_same_cases() -> None:
    assert draw_cases(OFFER, 50, seeded=3) == draw_cases(OFFER, 50, seeded=3)
    assert draw_cases(OFFER, 50, seeded=3) != draw_cases(OFFER, 50, seeded=4)


def test_each_case_is_sound_and_offered() -> None:
    small = dataclasses.replace(OFFER, kinds=("iterable",), workers=(0, 2), tails=("keep",))
    drawn = draw_cases(small, 200, seeded=1)
    assert len(drawn) > 100
    assert all(reason_not_offered(case, small) is None for case in drawn)
    shapes = {shape for family in FAMILIES.values() for shape in family.axes["shape"]}
    # Published states bring plans of their own.
    made = [c for c in drawn if not any(step.document for s in c.sessions for step in s.steps)]
    others = [c for c in made if (c.workload.n, c.workload.batch_size) not in shapes]
    assert others
    assert all(map(sound, others))


def test_most_cases_have_no_workers_and_some_do() -> None:
    drawn = draw_cases(OFFER, 400, seeded=1)
    workers = sum(map(has_workers, drawn))
    assert 0 < workers < len(drawn) / 5


def test_a_loader_without_workers_gets_none() -> None:
    single = dataclasses.replace(OFFER, workers=(0,))
    assert not any(map(has_workers, draw_cases(single, 200, seeded=1)))


def test_every_family_is_drawn() -> None:
    # This offer can hold every plan fixed: a changed worker count is another family's.
    missing = set(FAMILIES) - {"changed workers"}
    for seed in range(1, 101):  # the rarest family may take many
        missing -= {case.probe for case in draw_cases(OFFER, 100, seeded=seed, inline_of=2)}
        if not missing:
            break
    assert not missing


@pytest.mark.parametrize("name", ["RESUME-1", "EPOCH-5", "INTERVAL-1"])
def test_only_draws_what_is_asked_about(name: str) -> None:
    drawn = draw_cases(OFFER, 40, seeded=1, only=frozenset({name}))
    assert drawn
    assert all(name in applicable(case) for case in drawn)


@pytest.mark.parametrize("only", ["WORKERS-2", "ELASTIC-3"])
def test_the_executions_of_a_case_about_changes_differ(only: str) -> None:
    drawn = draw_cases(OFFER, 60, seeded=1, only=frozenset({only}), inline_of=2)
    assert any(map(has_workers, drawn))
    for case in drawn:
        inline = not has_workers(case)
        changed = [plan.execution.interval if inline else plan for plan in case.sessions]
        assert changed[0] != changed[-1], case
    # A loader without workers whose interval is fixed has nothing that could change.
    fixed = dataclasses.replace(OFFER, workers=(0,), intervals=(1,))
    assert draw_cases(fixed, 60, seeded=1, only=frozenset({only})) == []
