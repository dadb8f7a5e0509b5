"""Each verdict and each kind of failure is told apart, with one loader for each."""

from __future__ import annotations

import re

import pytest
import traceability
import written

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.summary import with_blocked
from midepoch_conformance.verdict.finding import KINDS, OUTCOMES, Finding

pytestmark = pytest.mark.usefixtures("warm_hosts")
LIMIT = 2.0
"""Seconds that a session may take."""

SIX, SHUFFLED = Workload(n=6, batch_size=2), Workload(n=6, batch_size=2, shuffle=True, seed=3)
CUT = ("take 1, save s", "load s, drain, drain")


def case(probe: str, *sessions: str, workload: Workload = SIX) -> Case:
    return written.case(probe, *sessions, workload=workload)


CASES: dict[str, tuple[Case, ...]] = {
    "cut": (case("cut", *CUT),),
    "cut, other values": (case("own values", *CUT, workload=Workload(n=6, draws=("own",))),),
    "cut, shuffled": (case("cut", *CUT, workload=SHUFFLED),),
    "cut, of seven": (case("cut", *CUT, workload=Workload(n=7, batch_size=2)),),
    "cut, drawn by torch": (case("cut", *CUT, workload=Workload(draws=("torch",))),),
    "whole": (case("whole", "drain, drain"),),
    "live": (case("live", "take 1, save s", "take 2, load s, take 1?, break, drain, drain"),),
    "failing sample": (
        case("failing sample", "drain", workload=Workload(n=6, batch_size=2, fail_at=4)),
    ),
    "size": (
        case(
            "size",
            "take 112, save early, take 800, save late",
            workload=Workload(n=4000, batch_size=4),
        ),
    ),
    "left behind": (case("left behind", "drain, close"),),
    "edited after load": (
        case("edited after load", "take 1, save s", "load s, edit s, drain, drain"),
    ),
    "document": (case("document", "take 1, save s", "load s, save t"),),
    "chain": (
        case("cut", *CUT),
        case("chain", "take 1, save s0", "load s0, take 1, save s1", "load s1, drain, drain"),
    ),
    "of seven, blocked": (
        case("plain", "drain, drain", workload=Workload(n=7, batch_size=2)),
        case("cut", *CUT, workload=Workload(n=7, batch_size=2)),
    ),
}
"""The cases that are played; the tests look at the last case's finding."""

VERDICTS: dict[str, tuple[str, str, str, str]] = {
    "passes": ("cut", "RESUME-1", "pass", ""),
    "refused": ("cut", "RESUME-1", "refused", ""),
    "missing": ("cut", "RESUME-1", "fails silently", "missing"),
    "repeated": ("cut", "RESUME-1", "fails silently", "repeated"),
    "reordered": ("cut", "RESUME-1", "fails silently", "reordered"),
    "extra": ("whole", "BASIS-3", "fails silently", "extra"),
    "values": ("cut, other values", "VOWN-1", "fails silently", "values"),
    "different": ("cut, shuffled", "RESUME-1", "fails silently", "different"),
    "ignored": ("live", "RESUME-5", "fails silently", "ignored"),
    "swallowed": ("failing sample", "FAULT-2", "fails silently", "swallowed"),
    "crash": ("cut", "RESUME-1", "fails", "crash"),
    "hang": ("cut", "RESUME-1", "fails", "hang"),
    "late_error": ("cut", "RESUME-1", "fails", "late error"),
    "bare_error": ("cut", "RESUME-1", "fails", "bare error"),
    "other_error": ("failing sample", "FAULT-2", "fails", "error"),
    "codec": ("cut", "RESUME-1", "fails", "codec"),
    "save": ("cut", "RESUME-1", "fails", "save"),
    "cost": ("size", "COST-1", "fails", "cost"),
    "leftover": ("left behind", "FAULT-4", "fails", "leftover"),
    "close": ("left behind", "FAULT-4", "fails", "close"),
    "refusal": ("edited after load", "STATE-5", "fails", "refusal"),
    "unstable": ("cut", "RESUME-1", "unstable", "missing"),
    "cell": ("cut, of seven", "RESUME-1", "not offered", "oracle"),
    "no_such_cell": ("cut", "RESUME-1", "not offered", ""),
    "slip_of_the_adapter": ("cut", "RESUME-1", "error", "adapter"),
    "disk_is_full": ("cut", "RESUME-1", "error", ""),
}
"""Of each loader in ``mutants/verdicts.py``: what is played, whose judge speaks, what it says."""

MORE = (
    ("passes", "cut, drawn by torch", "RESUME-1", "not offered", ""),
    ("missing", "chain", "RESUME-2", "blocked", ""),
)
"""Verdicts for which no loader of its own is needed."""


def said(loader: str, played: str, requirement: str) -> Finding:
    """Return the finding of ``requirement`` in the last case, settled."""
    with Runner(f"{traceability.MUTANTS / loader}", limit=LIMIT) as runner:
        bench = Bench(runner)
        results = [bench.judge(one, number) for number, one in enumerate(CASES[played])]
    found = with_blocked(results)[-1].findings
    return next(f for f in found if f.requirement == requirement)


@pytest.mark.parametrize(
    ("loader", "played", "requirement", "outcome", "kind"),
    [*((loader, *rest) for loader, rest in VERDICTS.items()), *MORE],
)
def test_it_is_told_apart(
    loader: str, played: str, requirement: str, outcome: str, kind: str
) -> None:
    finding = said(f"verdicts.py:{loader}", played, requirement)
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    if outcome not in ("pass", "not offered"):
        assert finding.words


@pytest.mark.usefixtures("warm_torch")
def test_a_document_that_the_schema_refuses_is_invalid() -> None:
    finding = said("notes_the_execution_in_the_plan.py:Adapter", "document", "DOC-1")
    assert (finding.outcome, finding.kind) == ("fails", "invalid"), finding.words


def test_every_outcome_and_every_kind_has_a_loader() -> None:
    rows = [*VERDICTS.values(), *(row[1:] for row in MORE)]
    assert {row[2] for row in rows} == set(OUTCOMES)
    # A judge's own error is shown in test_judges.py, and cases that disturb each other in
    # test_certain.py: no loader can bring these about by itself.
    assert KINDS - {"invalid", "judge", "company"} == {row[3] for row in rows} - {""}


def test_every_loader_has_a_verdict() -> None:
    source = (traceability.MUTANTS / "verdicts.py").read_text(encoding="utf-8")
    named = re.findall(r"^(\w+) = \w+\(\w*\)$", source, re.MULTILINE)
    assert sorted(named) == sorted(VERDICTS)
