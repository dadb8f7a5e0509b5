"""Every mutant fails the requirement that it names; the good loaders fail no requirement.

A test plays a mutant with the cases that judge its requirement until one fails: first the one that
caught it last, then the smallest. It also judges requirements that come before that one: a mutant
that fails one of them is *blocked*, not caught. In a whole trial these are all judged, and the
shrinker makes the failing case smaller, as it does for a report, down to the size that the mutant
names.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from pathlib import Path

import mutant_trials
import pytest
import traceability
from warm_hosts import WarmHosts, modules_of

from midepoch_conformance.families import tables as cases
from midepoch_conformance.families.kept import kept
from midepoch_conformance.judges import REGISTRY, applicable
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.summary import summarise, with_blocked
from midepoch_conformance.verdict.prerequisites import presupposed

pytestmark = pytest.mark.timeout(900)  # many cases, and the machine may be busy
MUTANTS = traceability.mutants()
WHOLE = int(os.environ.get("MIDEPOCH_TRY_ONE_MUTANT_WHOLLY_IN", "16"))
"""Of so many mutants one has a whole trial here; `.ci/nightly mutants` gives all of them one."""

SHARE = int(os.environ.get("MIDEPOCH_GOOD_LOADERS_PLAY_ONE_CASE_IN", "8"))
"""Of so many of quick's cases the good loaders play one, and each requirement's smallest ones."""

ENOUGH = 60
WITH_PROCESSES = 19
"""The most mutants that may need workers to be caught."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught_by_the_requirement_that_it_names(
    name: str, warm_hosts: WarmHosts
) -> None:
    mutant = MUTANTS[name]
    warm_hosts.modules = modules_of(mutant.path)
    whole = zlib.crc32(name.encode()) % WHOLE == 0  # a new mutant changes nobody's turn
    trial = mutant_trials.trial(mutant, whole=whole)
    assert trial.profile == mutant.table, trial.words
    if not whole:
        return
    within = all(trial.largest[k] <= mutant.largest[k] for k in mutant_trials.NUMBERS)
    assert within, f"it shrinks to {trial.largest}, not to {mutant.largest}: {trial.words}"
    if not mutant.loose:
        assert trial.largest == mutant.largest, "it shrinks further: write that into LARGEST"


def with_prerequisites(requirement: str) -> set[str]:
    found: set[str] = set()
    ahead = [requirement]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += presupposed(name)
    return found


KEPT = {case.id for case in kept()}

OF_LANES = ("WORLD-9", "WORLD-10", "WORLD-11")
"""The requirements of dealt lanes: the small loaders have none."""


@pytest.mark.usefixtures("warm_hosts")
@pytest.mark.parametrize(
    ("name", "wanted"),
    [("base", None), ("unfixed", "ELASTIC-2"), *(("format_base", name) for name in OF_LANES)],
)
def test_the_good_loaders_fail_nothing_and_show_that_each_judge_can_be_passed(
    name: str, wanted: str | None
) -> None:
    every = {i for i in REGISTRY if not i.startswith(OF_THE_FORMAT)} - {"ELASTIC-2", *OF_LANES}
    asked = every if wanted is None else with_prerequisites(wanted)
    results = []
    with Runner(f"{traceability.MUTANTS / name}.py:Adapter", limit=mutant_trials.LIMIT) as runner:
        bench = Bench(runner)
        unpassed = set(asked)
        for number, case in enumerate(mutant_trials.by_size("quick")):
            judged = asked.intersection(applicable(case))
            if judged and (number % SHARE == 0 or judged & unpassed or case.id in KEPT):
                results.append(bench.judge(case, number))
                unpassed -= {f.requirement for f in results[-1].findings if f.outcome == "pass"}
    rows = summarise(with_blocked(results)).rows
    wrong = [r for r in rows if r.outcome not in ("pass", "not offered")]
    assert not wrong, wrong
    passed = {r.requirement for r in rows if r.outcome == "pass"}
    assert passed >= (every if wanted is None else {wanted})


OF_THE_FORMAT = ("DOC-", "ORDER-", "SEED-")
"""The requirements of midepoch's own format: only the reference loader implements it."""


def test_every_judge_fails_a_mutant() -> None:
    named = {mutant.expected for mutant in MUTANTS.values()}
    assert [i for i in REGISTRY if i not in named] == []


def test_the_mutants_are_many_and_fall_early() -> None:
    assert len(MUTANTS) >= ENOUGH
    tables = Counter(mutant.table for mutant in MUTANTS.values())
    assert set(tables) <= set(cases.PROFILES)
    assert tables["quick"] >= 0.9 * len(MUTANTS), tables


def test_few_mutants_need_processes() -> None:
    need = [name for name, mutant in MUTANTS.items() if mutant.largest["workers"]]
    assert len(need) <= WITH_PROCESSES, need


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_says_what_is_asked_of_it(name: str) -> None:
    mutant = MUTANTS[name]
    assert set(mutant.largest) == set(mutant_trials.NUMBERS)
    assert isinstance(mutant.field, tuple)
    words = Path(mutant.path).read_text(encoding="utf-8").splitlines()[0]
    assert words.startswith('"""')
    assert words.rstrip('"').endswith((".", ","))
