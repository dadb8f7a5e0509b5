"""The condition of a failure's script holds for what its judge found, and for no right loader."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from written import FIRST, SIX, case, found, trace, whole

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Trace
from midepoch_conformance.scripts.evidence import compared
from midepoch_conformance.scripts.player import epochs
from midepoch_conformance.verdict.finding import Finding


def shows(of: Case, finding: Finding, played: Trace) -> bool:
    """Tell whether the finding's script would show the failure in what a play delivered."""
    assert finding.evidence is not None
    comparison = compared(of, finding, finding.evidence)
    names: dict[str, Any] = {"seen": seen(of, played), "epochs": epochs}
    names["got"] = eval(comparison.got, names)
    return bool(eval(comparison.shows, names))


def seen(of: Case, played: Trace) -> dict[str, list[dict[str, Any]]]:
    """Return a play as a script records it; the calls are counted from the session's beginning."""
    found = {}
    for number, (plan, session) in enumerate(zip(of.sessions, played.sessions, strict=True)):
        records, calls = [], {"fetch": 0, "state_dict": 0}
        for step, event in zip(plan.steps, session.events, strict=True):
            calls = {
                "fetch": calls["fetch"] + (event.fetched or 0),
                "state_dict": calls["state_dict"] + (event.calls or {}).get("state_dict", 0),
            }
            record = {"do": step.do, "batches": event.batches, "ended": event.ended}
            records.append({**record, "calls": calls})
        found[str(number + 1)] = records
    return found


def finds(requirement: str, of: Case, played: Trace, oracle: Trace | None = None) -> Finding:
    finding = found(requirement, of, played, oracle)
    assert finding is not None
    return finding


APART = "0:0.1|1:0.2|2:0.3|3:0.4"
AGAIN = (APART, APART)
SHIFTED = (APART, "0:0.2|1:0.3|2:0.4|3:0.1")
WITHIN = ("0:0.6|1:0.7|2:0.8|3:0.9", "0:0.1|1:0.1|2:0.1|3:0.1")
FRESH = (APART, "0:0.5|1:0.6|2:0.7|3:0.8")


@pytest.mark.parametrize(
    ("requirement", "wrong", "mended"),
    [
        # One sample may draw the same values in each epoch.
        ("VOWN-2", SHIFTED, AGAIN),
        ("VOWN-2", WITHIN, AGAIN),
        ("VOWN-2", WITHIN, FRESH),
        ("VAMB-2", AGAIN, FRESH),
        ("VAMB-2", WITHIN, FRESH),
    ],
)
def test_draws(requirement: str, wrong: tuple[str, ...], mended: tuple[str, ...]) -> None:
    draws, probe = (
        ("own", "own streams") if requirement == "VOWN-2" else ("python", "ambient streams")
    )
    of = case(probe, "drain, drain", workload=dataclasses.replace(SIX, draws=(draws,)))
    before, after = (trace(of, [f"{epoch}." for epoch in one]) for one in (wrong, mended))
    finding = finds(requirement, of, before)
    assert finding.outcome == "fails silently"
    assert finds(requirement, of, after).outcome == "pass"
    assert shows(of, finding, before)
    assert not shows(of, finding, after)


LONG = dataclasses.replace(SIX, n=60, batch_size=1)
TENS = whole("|".join("0123456789" * 6))


def resumed(fetched: list[int], *, chained: bool) -> tuple[Case, Trace]:
    """Write resumes that fetch so many samples, at positions in a row or ten samples apart."""
    each = 1 if chained else 10
    saves = [f"take {each}, save s{i}" for i in range(len(fetched))]
    of = case(
        "fetched again",
        ", ".join(saves),
        *(f"load s{i}, take 1" for i in range(len(fetched))),
        workload=LONG,
    )
    digits = "0123456789" * 6
    first = [
        text for i in range(len(fetched)) for text in ("|".join(digits[i * each :][:each]), "")
    ]
    played = trace(of, first, *(["", digits[(i + 1) * each]] for i in range(len(fetched))))
    for number, count in enumerate(fetched):
        played.sessions[number + 1].events[1].fetched = count
    return of, played


@pytest.mark.parametrize(
    ("fetched", "chained", "outcome"),
    [
        ([2, 30, 30], False, "pass"),  # at any distance from a snapshot of the loader's own
        ([2, 2, 30], False, "fails"),
        ([2, 30, 2], False, "pass"),
        ([2, 30, 48], False, "fails"),
        ([2, 30, 30], True, "fails"),  # the snapshot is lost: it was two samples before
        ([2, 18, 18], True, "pass"),
        ([2, 3, 4], True, "pass"),
    ],
)
def test_fetches(fetched: list[int], chained: bool, outcome: str) -> None:
    of, played = resumed(fetched, chained=chained)
    finding = finds("COST-3", of, played, TENS)
    assert finding.outcome == outcome, finding.words
    if outcome == "fails":
        assert shows(of, finding, played)
        for mended in ([4, 4, 4], [20, 3, 18]):
            assert not shows(of, finding, resumed(mended, chained=chained)[1])


def called(*calls: int, fetched: int = 6) -> tuple[Case, Trace]:
    of = case("calls", ", ".join(["drain"] * len(calls)), interval=3)
    played = trace(of, [f"{FIRST}."] * len(calls))
    for event, count in zip(played.sessions[0].events, calls, strict=True):
        event.calls, event.fetched = {"state_dict": count}, fetched
    return of, played


@pytest.mark.parametrize(
    ("calls", "fetched", "outcome"),
    [
        ((4, 4, 4), 6, "pass"),
        ((1, 9, 1), 6, "pass"),
        ((1, 10, 1), 6, "fails"),  # of three batches, one ends an interval
        ((1, 10, 1), 12, "pass"),  # three batches more are made for the next epoch
        ((6, 6, 6), 6, "fails"),
    ],
)
def test_calls_of_one_epoch(calls: tuple[int, ...], fetched: int, outcome: str) -> None:
    of, played = called(*calls, fetched=fetched)
    finding = finds("COST-2", of, played, whole(*[FIRST] * 3))
    assert finding.outcome == outcome, finding.words
    if outcome == "fails":
        assert shows(of, finding, played)
        assert not shows(of, finding, called(*([2] * len(calls)))[1])
