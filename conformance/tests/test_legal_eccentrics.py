"""A loader that merely differs in what the specification leaves open fails nothing."""

from __future__ import annotations

import os

import pytest
import traceability

from midepoch_conformance.families import tables
from midepoch_conformance.run.bench import Bench
from midepoch_conformance.run.runner import Runner
from midepoch_conformance.run.summary import summarise, with_blocked

# Up to 8 s of processor time for a loader: its cases are a third of the quick table.
pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("warm_hosts")]
LIMIT = 10.0
"""Seconds that a session may take."""

WITH_WORKERS = ("shares", "regroups", "lazy_workers")
"""The ones whose workers are what is eccentric; the others are played without any."""

SHARE = int(os.environ.get("MIDEPOCH_ECCENTRICS_PLAY_ONE_CASE_IN", "3"))
"""Of so many of quick's cases one is played here; `.ci/nightly` plays all."""

REFUSALS = {"refuses_while_live": {"RESUME-6", "RESUME-7"}, "looks_when_iterated": {"RESUME-7"}}
"""Requirements whose refusal is neither a pass nor a failure."""

UNASKED = {"refuses_while_live": {("FAULT-7", "blocked")}}
"""What cannot be asked of it: whether anything is left of a load that never happened."""

ECCENTRICS = (
    "another_shuffle",
    "any_container",
    "arrays",
    "backwards",
    "byte_states",
    "empty_after_end",
    "end_is_the_next_start",
    "keeps_threads",
    "lazy_workers",
    "load_moves_the_live",
    "loads_for_the_next",
    "looks_when_iterated",
    "opaque_states",
    "overtakes",
    "refuses_while_live",
    "regroups",
    "saves_between_epochs",
    "shares",
    "stamped_states",
    "talks",
    "uneven_batches",
)


@pytest.mark.parametrize("name", ECCENTRICS)
def test_an_eccentric_fails_nothing(name: str) -> None:
    results = []
    with Runner(f"{traceability.MUTANTS / 'eccentric.py'}:{name}", limit=LIMIT) as runner:
        bench = Bench(runner)
        for number, case in enumerate(tables.load_table("quick")):
            if number % SHARE:
                continue
            if name in WITH_WORKERS or not tables.has_workers(case):
                results.append(bench.judge(case, number))
    rows = summarise(with_blocked(results)).rows
    wrong = [r for r in rows if r.outcome not in ("pass", "not offered", "refused")]
    assert {(r.requirement, r.outcome) for r in wrong} <= UNASKED.get(name, set()), wrong
    assert {r.requirement for r in rows if r.outcome == "refused"} <= REFUSALS.get(name, set())
    assert {"BASIS-1", "BASIS-2"} <= {r.requirement for r in rows if r.outcome == "pass"}


def test_there_is_a_test_for_each_eccentric() -> None:
    source = (traceability.MUTANTS / "eccentric.py").read_text(encoding="utf-8")
    named = {line.split(" = ")[0] for line in source.splitlines() if " = good(" in line}
    assert named == set(ECCENTRICS)
