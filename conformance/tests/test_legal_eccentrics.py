"""A loader that merely differs in what the specification leaves open fails nothing."""

from __future__ import annotations

import os
import re

import pytest
import traceability

from midepoch_conformance.case.case import has_workers
from midepoch_conformance.families import tables
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.summary import summarise, with_blocked

# Up to 8 s of processor time for a loader: its cases are a third of the quick table.
pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("warm_hosts")]
LIMIT = 10.0
"""Seconds that a session may take."""

WITH_WORKERS = ("shares", "regroups", "lazy_workers")
"""The ones whose workers are what is eccentric; the others are played without any."""

SHARE = int(os.environ.get("MIDEPOCH_ECCENTRICS_PLAY_ONE_CASE_IN", "11"))
"""Of so many of quick's cases one is played here; `.ci/nightly` plays all.

Each eccentric begins with another case, so that all of them together play the whole table.
"""

FIRST = int(os.environ.get("MIDEPOCH_ECCENTRICS_BEGIN_AT", "0"))
"""The case at which the first eccentric begins: several runs can each play another share."""

WHOLE = {"uneven_batches", "one_on_each_machine"}
"""The ones that offer so little that a share would judge few requirements: they play all cases."""

FEWEST = 4
"""So many requirements at least must pass: the others may have no case in an eccentric's share."""

REFUSALS = {"refuses_while_live": {"RESUME-6", "RESUME-7"}, "looks_when_iterated": {"RESUME-7"}}
"""Requirements whose refusal is neither a pass nor a failure."""

UNASKED = {
    "refuses_while_live": {("FAULT-7", "blocked")},
    "looks_when_iterated": {("RESUME-7", "blocked")},
}
"""Requirements that cannot be asked of it: whether anything is left of a load that never happened,
and what follows a value that it refuses at the next batch only."""

FILES = {
    name: file
    for file in ("eccentric.py", "unusual.py")
    for name in re.findall(
        r"^(\w+) = good\(", (traceability.MUTANTS / file).read_text(encoding="utf-8"), re.MULTILINE
    )
}
"""Each eccentric's file."""

ENOUGH = 29


@pytest.mark.parametrize("name", FILES)
def test_an_eccentric_fails_nothing(name: str) -> None:
    results = []
    with Runner(f"{traceability.MUTANTS / FILES[name]}:{name}", limit=LIMIT) as runner:
        bench = Bench(runner)
        for number, case in enumerate(tables.load_table("quick")):
            if name not in WHOLE and (number - FIRST - list(FILES).index(name)) % SHARE:
                continue
            if name in WITH_WORKERS or not has_workers(case):
                results.append(bench.judge(case, number))
    rows = summarise(with_blocked(results)).rows
    wrong = [r for r in rows if r.outcome not in ("pass", "not offered", "refused")]
    assert {(r.requirement, r.outcome) for r in wrong} <= UNASKED.get(name, set()), wrong
    assert {r.requirement for r in rows if r.outcome == "refused"} <= REFUSALS.get(name, set())
    assert len({r.requirement for r in rows if r.outcome == "pass"}) >= FEWEST


def test_the_eccentrics_are_many() -> None:
    assert len(FILES) >= ENOUGH
