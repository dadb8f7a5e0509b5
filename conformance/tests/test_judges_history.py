"""RESUME-7 on written traces: what it finds, and what a finding presupposes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from written import FIRST, ORACLE, SECOND, SIX, THIRD, case, found, trace

from midepoch_conformance.judges import judge
from midepoch_conformance.verdict.finding import Finding

CHAIN = ("take 1, save s", "load s, take 1, save t", "load t, drain, drain")
RIGHT = (["01", ""], ["", "23", ""], ["", "45.", "53|41|20."])


def judged(sessions: tuple[str, ...], *texts: list[str], **more: Any) -> Finding:
    of = case("history", *sessions, workload=SIX, **more)
    finding = found("RESUME-7", of, trace(of, *texts))
    assert finding is not None
    return finding


def test_what_is_the_uninterrupted_runs_passes() -> None:
    assert judged(CHAIN, *RIGHT).outcome == "pass"


def test_a_wrong_batch_presupposes_all_that_led_to_it() -> None:
    finding = judged(CHAIN, *RIGHT[:2], ["", "01.", ""])
    assert finding.outcome == "fails silently"
    assert {"RESUME-1", "RESUME-2", "RESUME-3", "BASIS-4"} <= set(finding.needs)
    assert not {"EPOCH-5", "RESUME-5", "RESUME-6", "STATE-3", "INTERVAL-1"} & set(finding.needs)


@pytest.mark.parametrize(
    ("broken", "rest", "outcome"),
    [
        ("counts", f"{SECOND}.", "pass"),
        ("counts", f"{FIRST}.", "fails silently"),
        ("again", f"{FIRST}.", "pass"),
        ("again", f"{SECOND}.", "fails silently"),
        ("again", "45.", "fails silently"),
    ],
)
def test_an_epoch_that_was_broken_off_is_what_the_loader_documents(
    broken: str, rest: str, outcome: str
) -> None:
    of = case("history", "take 1, save s", "load s, take 1, break, drain", workload=SIX)
    played = trace(of, ["01", ""], ["", "23", "", rest])
    findings = {f.requirement: f for f in judge(of, played, ORACLE, broken=broken)}
    assert findings["RESUME-7"].outcome == outcome, findings["RESUME-7"].words


@pytest.mark.parametrize(("rest", "outcome"), [("23|45.", "pass"), ("45.", "fails silently")])
def test_work_that_is_left_and_saved_has_the_epochs_of_its_first_session(
    rest: str, outcome: str
) -> None:
    steps = "take 1, break, take 1, save s, drain"
    of = case("work left and saved", steps, "load s, drain", workload=SIX)
    played = trace(of, ["01", "", "01", "", "23|45."], ["", rest])
    findings = {f.requirement: f for f in judge(of, played, ORACLE, broken="again")}
    assert findings["RESUME-7"].outcome == outcome, findings["RESUME-7"].words


def test_what_comes_after_the_wrong_batch_is_not_presupposed() -> None:
    sessions = ("take 1, save s", "load s, take 1, break, drain")
    finding = judged(sessions, ["01", ""], ["", "45", "", ""])
    assert "EPOCH-5" not in finding.needs
    finding = judged(sessions, ["01", ""], ["", "23", "", "24|05|13."])
    assert finding.outcome == "fails silently"
    assert {"EPOCH-5", "EPOCH-1"} <= set(finding.needs)


@pytest.mark.parametrize(
    ("session", "texts", "need"),
    [
        ("load s, take 1, break, load s, take 1", ["", "23", "", "", "45"], "RESUME-6"),
        ("take 1, load s, break, take 1", ["01", "", "", "45"], "RESUME-5"),
        ("load s, save t, edit t, take 1", ["", "", "", "45"], "STATE-2"),
        ("load s, edit s, take 1", ["", "", "45"], "STATE-5"),
        ("take 1, close, open, load s, take 1", ["01", "", "", "", "45"], "FAULT-7"),
    ],
)
def test_ingredients_are_presupposed(session: str, texts: list[str], need: str) -> None:
    finding = judged(("take 1, save s", session), ["01", ""], texts)
    assert finding.outcome == "fails silently", finding.words
    assert need in finding.needs


def test_an_interval_is_presupposed() -> None:
    finding = judged(("take 2",), ["01|01"], interval=3)
    assert finding.needs == ("INTERVAL-1",)


def test_a_load_while_iterating_may_be_refused_and_another_load_is_a_refusal() -> None:
    refused = "!load ValueError not while an iterator is live"
    live = ("take 1, save s, take 1, load s, break, take 1",)
    assert judged(live, ["01", "", "23", refused]).outcome == "pass"
    fresh = ("take 1, save s", "load s, drain")
    assert judged(fresh, ["01", ""], [refused]).outcome == "refused"


def test_a_load_of_nothing_is_caught_and_one_that_is_not_refused_blocks() -> None:
    session = ("take 1, load_bogus none?, take 1",)
    assert judged(session, ["01", "!load ValueError no state", "23"]).outcome == "pass"
    assert judged(session, ["01", "", "23"]).outcome == "blocked"


def test_the_rest_of_an_epoch_whose_end_was_not_seen_may_be_empty_or_left_out() -> None:
    sessions = ("take 3, save s", "load s, drain, save t", "load t, drain, drain")
    empty = judged(sessions, ["01|23|45", ""], ["", ".", ""], ["", "53|41|20.", "24|05|13."])
    none = judged(sessions, ["01|23|45", ""], ["", "53|41|20.", ""], ["", "24|05|13.", "01|23|45."])
    assert (empty.outcome, none.outcome) == ("pass", "pass")
    again = judged(sessions, ["01|23|45", ""], ["", ".", ""], ["", "01|23|45.", ""])
    assert again.outcome == "fails silently"
    assert "EPOCH-3" in again.needs


def test_nothing_at_all_after_a_load_fails() -> None:
    finding = judged(("take 1, save s", "load s, drain"), ["01", ""], ["", "."])
    assert (finding.outcome, finding.kind) == ("fails silently", "missing")


INTERRUPTED = ("take 1, save s", "[interrupt_at=2] load s, drain?, save t, drain?", "load t, drain")
CUT = "!next KeyboardInterrupt "


def test_after_an_interrupt_nothing_is_lost_or_repeated() -> None:
    first, good, last = ["01", ""], ["", CUT, "", "23|45."], ["", "23|45."]
    assert judged(INTERRUPTED, first, good, last).outcome == "pass"
    lost = judged(INTERRUPTED, first, ["", CUT, "", "45."], last)
    assert lost.outcome == "fails silently"
    assert {"FAULT-9", "FAULT-12"} <= set(lost.needs)
    later = judged(INTERRUPTED, first, good, ["", "45."])
    assert later.outcome == "fails silently"
    assert {"FAULT-9", "FAULT-12", "RESUME-2"} <= set(later.needs)


def test_a_loader_may_refuse_to_go_on_after_an_interrupt_and_after_nothing_else() -> None:
    refused = "!next RuntimeError it was interrupted"
    going_on = ("take 1, save s", "[interrupt_at=4] load s, drain?, drain?")
    finding = judged(going_on, ["01", ""], ["", f"23{CUT}", refused])
    assert finding.outcome == "pass"
    finding = judged(going_on, ["01", ""], ["", f"23{refused}", "45."])
    assert finding.outcome == "fails"
    plain = judged(("take 1, save s", "load s, drain?"), ["01", ""], ["", CUT])
    assert plain.outcome != "pass"


LEFT = ("drain, take 1, break, drain", "drain, save s1", "load s1, take 1, break, drain")
WHOLE = [f"{FIRST}.", "53", "", f"{THIRD}."]


@pytest.mark.parametrize(
    ("rest", "outcome"),
    [
        (["", "53", "", f"{THIRD}."], "pass"),
        (["", "53", "", f"{SECOND}."], "fails silently"),
        # An empty epoch comes first, and the step that asked for a batch has none.
        (["", ".", "", f"{SECOND}."], "not offered"),
    ],
)
def test_an_empty_epoch_after_a_load_may_take_what_a_program_asks(
    rest: list[str], outcome: str
) -> None:
    of = case("program", *LEFT)
    finding = found("RESUME-7", of, trace(of, WHOLE, [f"{FIRST}.", ""], rest))
    assert finding is not None
    assert finding.outcome == outcome


def test_a_loader_that_skips_an_empty_rest_may_give_the_next_epoch_in_its_place() -> None:
    steps = "take 3, drain, take 1, break, drain", "take 3, save s1", "load s1, drain, take 1"
    of = case("program", steps[0], steps[1], f"{steps[2]}, break, drain")
    of = dataclasses.replace(of, workload=dataclasses.replace(of.workload, skips=True))
    whole = [FIRST, ".", "53", "", f"{THIRD}."]
    resumed = ["", f"{SECOND}.", "01", "", "."]
    finding = found("RESUME-7", of, trace(of, whole, [FIRST, ""], resumed))
    assert finding is not None
    assert finding.outcome == "not offered"
