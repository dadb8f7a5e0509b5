"""Each broken loader is caught, by the requirement that it names; the good one by none.

A mutant is played with the cases of ``quick`` that judge its requirement and what that
presupposes, so that a mutant which broke something else first would be *blocked*, not caught.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import traceability

from midepoch_conformance import cases
from midepoch_conformance.bench import Bench
from midepoch_conformance.judges import REGISTRY, applicable
from midepoch_conformance.prerequisites import presupposed
from midepoch_conformance.runner import Runner
from midepoch_conformance.summary import Summary, settled_results, summarise
from midepoch_conformance.verdict import FAILURES

MUTANTS = Path(__file__).parent / "mutants"
LIMIT = 3.0
"""Seconds that a session of a pure-Python loader may take; a hang costs as many, thrice."""


def verdicts(name: str, only: set[str] | None) -> Summary:
    """Return what the suite says of the loader in ``mutants/NAME.py``."""
    wanted = set(REGISTRY) if only is None else only
    results = []
    with Runner(f"{MUTANTS / name}.py:Adapter", limit=LIMIT) as runner:
        bench = Bench(runner)
        for number, case in enumerate(cases.load_table("quick")):
            if wanted.intersection(applicable(case)):
                result = bench.judge(case, number)
                found = tuple(f for f in result.findings if f.requirement in wanted)
                results.append(dataclasses.replace(result, findings=found))
    return summarise(settled_results(results))


def with_what_it_presupposes(requirement: str) -> set[str]:
    found: set[str] = set()
    ahead = [requirement]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += presupposed(name)
    return found


@pytest.mark.parametrize("name", traceability.mutants())
def test_a_mutant_is_caught_by_the_requirement_that_it_names(name: str) -> None:
    (expected,) = traceability.mutants()[name]
    summary = verdicts(name, with_what_it_presupposes(expected))
    rows = {f"{r.requirement} {r.workload}": r.outcome for r in summary.rows}
    caught = [r for r in summary.rows if r.requirement == expected and r.outcome in FAILURES]
    assert caught, rows
    assert not summary.errors, rows


def test_the_good_loaders_fail_nothing_and_show_that_each_judge_can_be_passed() -> None:
    passed: set[str] = set()
    for name, only in (("base", None), ("unfixed", with_what_it_presupposes("ELASTIC-2"))):
        rows = verdicts(name, only).rows
        wrong = [r for r in rows if r.outcome not in ("pass", "not offered")]
        assert not wrong, f"{name}: {wrong}"
        passed |= {r.requirement for r in rows if r.outcome == "pass"}
    assert [i for i in REGISTRY if i not in passed and not i.startswith(OF_THE_FORMAT)] == []


OF_THE_FORMAT = ("DOC-", "ORDER-", "SEED-")
"""What the simple loader cannot show: it has a format of its own. The reference loader does."""


def test_the_judges_that_no_mutant_fails_are_these() -> None:
    killed = {i for ids in traceability.mutants().values() for i in ids}
    idle = [i for i in REGISTRY if i not in killed]
    assert set(idle) == NO_MUTANT_YET, f"{len(idle)} judges are named by no mutant: {idle}"


NO_MUTANT_YET: set[str] = set()
"""The judges that kill no mutant yet."""
