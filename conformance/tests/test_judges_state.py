"""The judges of State, Interval, Workers, Elastic and Values, on traces written by hand."""

from __future__ import annotations

import dataclasses

import pytest
from written import (
    CUT,
    CUT_FIRST,
    FIRST,
    SECOND,
    SIX,
    THIRD,
    case,
    check,
    found,
    outcome,
    trace,
    whole,
)

from midepoch_conformance.case.trace import Event, SessionTrace, Trace
from midepoch_conformance.judges import judge

# State.


def test_a_state_that_changed_is_seen_by_how_it_resumes() -> None:
    sessions = ("take 2, save s, drain, seal s late", "load late, drain, drain")
    first = ["01|23", "", "45.", ""]
    good, bad = ["", "45.", f"{SECOND}."], ["", f"{SECOND}.", f"{THIRD}."]
    of = case("sealed late", *sessions)
    same = trace(of, first, bad, digest="a")
    assert outcome("STATE-1", of, same) == ("pass", "")
    changed = trace(of, first, bad, digest="a")
    changed.sessions[0].events[3].digest = "b"
    assert outcome("STATE-1", of, changed) == ("fails silently", "different")
    harmless = trace(of, first, good, digest="a")
    harmless.sessions[0].events[3].digest = "b"
    assert outcome("STATE-1", of, harmless) == ("pass", "")


def test_a_state_that_changed_anywhere_is_seen() -> None:
    sessions = ("take 1, save a", "load a, save s, take 1, seal s late", "load late, drain, drain")
    texts = (["01", ""], ["", "", "23", ""], ["", "23|45.", f"{SECOND}."])
    of = case("sealed late", *sessions)
    t = trace(of, *texts)
    assert outcome("STATE-1", of, t) == ("pass", "")
    t.sessions[1].events[3].altered = "int 2 in place of int 1"
    assert outcome("STATE-1", of, t) == ("fails silently", "different")


def test_a_loaded_state_is_left_as_it_is() -> None:
    sessions = ("take 1, save s", "load s, take 1, save t, drain, seal s late")
    of = case("loaded by reference", *sessions)
    texts = (["01", ""], ["", "23", "", "45.", ""])
    assert outcome("STATE-7", of, trace(of, *texts)) == ("pass", "")
    for step, when in ((0, "by the load"), (4, "while the loader goes on")):
        t = trace(of, *texts)
        t.sessions[1].events[step].altered = "dict() in place of dict(str 'epoch': int 0)"
        finding = found("STATE-7", of, t)
        assert finding is not None
        assert (finding.outcome, finding.kind) == ("fails silently", "different")
        assert when in finding.words
    wrong = trace(of, ["01", ""], ["", "45", "", ".", ""])
    assert outcome("STATE-7", of, wrong) == ("blocked", "")
    refused = trace(of, ["01", ""], ["!load ValueError no"])
    assert outcome("STATE-7", of, refused) == ("blocked", "")


def test_a_state_edited_after_a_load() -> None:
    sessions = (
        "take 1, save a",
        "load a, save s, edit s, take 1, save t, drain",
        "load t, drain, drain",
    )
    of = case("edited after save", *sessions)
    first, last = ["01", ""], ["", "45.", f"{SECOND}."]
    good = trace(of, first, ["", "", "", "23", "", "45."], last)
    assert outcome("STATE-2", of, good) == ("pass", "")
    bad = trace(of, first, ["", "", "", "45", "", "."], last)
    finding = found("STATE-2", of, bad)
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails silently", "missing")
    assert {"RESUME-2", "RESUME-3"} <= set(finding.needs)


def test_the_epochs_after_a_decoded_state() -> None:
    texts = (CUT_FIRST, ["", "45.", f"{THIRD}."])
    check("STATE-3", "codec", CUT, texts, "fails silently", "different")


def test_a_state_edited_outside() -> None:
    sessions = ("take 1, save s, edit s, take 1, save t, drain", "load t, drain, drain")
    good = (["01", "", "", "23", "", "45."], ["", "45.", f"{SECOND}."])
    check("STATE-2", "edited after save", sessions, good, "pass")
    inside = (["01", "", "", "45", "", "."],)
    check("STATE-2", "edited after save", sessions, inside, "fails silently", "missing")
    before = (["45", "", "", "23", "", "45."],)
    check("STATE-2", "edited after save", sessions, before, "blocked")
    later = (["01", "", "", "23", "", "45."], ["", "23|45.", f"{SECOND}."])
    check("STATE-2", "edited after save", sessions, later, "fails silently", "repeated")
    refused = (["01", "", "", "23", "", "45."], ["!load RuntimeError invalid state"])
    check("STATE-2", "edited after save", sessions, refused, "fails", "refusal")


def test_codecs() -> None:
    check("STATE-3", "codec", CUT, (CUT_FIRST, ["", "45.", f"{SECOND}."]), "pass")
    refused = (CUT_FIRST, ["!load ValueError keys are texts"])
    check("STATE-3", "codec", CUT, refused, "refused")
    unencodable = (["01|23", "!codec TypeError Tensor is not JSON serializable"],)
    check("STATE-3", "codec", CUT, unencodable, "fails", "codec")
    bad = (CUT_FIRST, ["", "01|23|45.", f"{SECOND}."])
    check("STATE-3", "codec", CUT, bad, "fails silently", "repeated")


def test_a_state_edited_after_its_load() -> None:
    sessions = ("take 2, save s", "load s, edit s, drain, drain")
    good = (CUT_FIRST, ["", "", "45.", f"{SECOND}."])
    check("STATE-5", "edited after load", sessions, good, "pass")
    bad = (CUT_FIRST, ["", "", f"{FIRST}.", f"{SECOND}."])
    check("STATE-5", "edited after load", sessions, bad, "fails silently", "repeated")
    error = (CUT_FIRST, ["", "", "!iter KeyError 'added by the suite'"])
    check("STATE-5", "edited after load", sessions, error, "fails", "bare error")
    again = ("take 2, save s", "load s, edit s, save t, drain, drain", "load t, drain, drain")
    first, second = CUT_FIRST, ["", "", "", "45.", f"{SECOND}."]
    of = "work edited after load"
    check("STATE-5", of, again, (first, second, ["", "45.", f"{SECOND}."]), "pass")
    bad = (first, second, ["", "23|45.", f"{SECOND}."])
    check("STATE-5", of, again, bad, "fails silently", "repeated")


def test_a_tree() -> None:
    check("STATE-6", "tree", CUT, (CUT_FIRST, ["", "45.", f"{SECOND}."]), "pass")
    changed = (CUT_FIRST, ["", "!iter WorkloadError the dataset's state came back changed at 4"])
    check("STATE-6", "tree", CUT, changed, "fails", "values")
    check("STATE-6", "tree", CUT, (CUT_FIRST, ["!load ValueError no"]), "refused")


# Interval, Workers, Elastic.


@pytest.mark.parametrize(
    ("requirement", "probe"),
    [
        ("INTERVAL-1", "interval"),
        ("ELASTIC-1", "elastic"),
        ("ELASTIC-3", "changed execution"),
    ],
)
def test_exactness_under_another_execution(requirement: str, probe: str) -> None:
    check(requirement, probe, CUT, (CUT_FIRST, ["", "45.", f"{SECOND}."]), "pass")
    bad = (CUT_FIRST, ["", "23|45.", f"{SECOND}."])
    check(requirement, probe, CUT, bad, "fails silently", "repeated")
    check(requirement, probe, CUT, (CUT_FIRST, ["!load ValueError 3 workers"]), "refused")
    assertion = (CUT_FIRST, ["!load AssertionError"])
    check(requirement, probe, CUT, assertion, "fails", "bare error")
    of = case(probe, *CUT)
    later = found(requirement, of, trace(of, CUT_FIRST, ["", "45.", "41|20."]))
    assert later is not None
    assert (later.outcome, later.needs) == ("fails silently", ("RESUME-1", "EPOCH-1"))


@pytest.mark.parametrize(
    ("requirement", "probe"), [("WORKERS-1", "workers"), ("WORKERS-2", "execution")]
)
def test_an_execution_does_not_show(requirement: str, probe: str) -> None:
    sessions = ("", "drain, drain")
    check(requirement, probe, sessions, ([], [f"{FIRST}.", f"{SECOND}."]), "pass")
    check(
        requirement,
        probe,
        sessions,
        ([], ["02|13|45.", f"{SECOND}."]),
        "fails silently",
        "reordered",
    )
    check(requirement, probe, sessions, ([], ["!iter ValueError too many workers"]), "not offered")
    check(requirement, probe, sessions, ([], ["01!hang next"]), "fails", "hang")


@pytest.mark.parametrize(
    ("second", "outcome"),
    [
        (["01", "", f"{FIRST}.", f"{SECOND}."], "pass"),
        (["01", "", f"{SECOND}.", f"{FIRST}."], "fails silently"),
        (["01", "", "23|45.", f"{SECOND}."], "fails silently"),
    ],
)
@pytest.mark.parametrize("probe", ["work left early", "set and left"])
def test_workers_do_not_show_after_an_epoch_that_comes_again(
    probe: str, second: list[str], outcome: str
) -> None:
    """Both runs break an epoch off in the same way, and are compared with each other."""
    of = case(probe, *["take 1, break, drain, drain"] * 2)
    played = trace(of, ["01", "", f"{FIRST}.", f"{SECOND}."], second)
    findings = judge(of, played, None, broken="again")
    assert [f.outcome for f in findings if f.requirement == "WORKERS-1"] == [outcome]


CHANGED = ("take 1, save s", "load s, drain, drain")


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["", "23|45.", f"{SECOND}."], "pass", ""),
        (["", "54|32.", "01|23|45."], "pass", ""),
        (["", ".", "54|32."], "pass", ""),
        (["!load ValueError 2 workers, saved with 3"], "pass", ""),
        (["!load AssertionError"], "fails", "bare error"),
        (["", "45.", f"{SECOND}."], "fails silently", "missing"),
        (["", "12|345.", f"{SECOND}."], "fails silently", "repeated"),
        (["", ".", "."], "fails silently", "missing"),
        (["", "23!next ValueError no"], "fails", "late error"),
    ],
)
def test_a_changed_worker_count_loses_nothing(texts: list[str], outcome: str, kind: str) -> None:
    check("ELASTIC-2", "changed workers", CHANGED, (["01", ""], texts), outcome, kind)


# Values.

VALUES = whole("01:0.5|23:0.25|45:0.125", "01:0.75|23:0.375|45:0.625")


@pytest.mark.parametrize(
    ("requirement", "probe"), [("VOWN-1", "own values"), ("VAMB-1", "ambient values")]
)
@pytest.mark.parametrize(
    ("first", "second", "outcome", "kind"),
    [
        ("01:0.5", "23:0.25|45:0.125.", "pass", ""),
        ("01:0.5", "23:0.5|45:0.125.", "fails silently", "values"),
        ("01:0.5", "45:0.125.", "blocked", ""),
        ("01:0.9", "23:0.25|45:0.125.", "fails silently", "values"),
        ("01:0.5", "!iter ValueError no", "refused", ""),
    ],
)
def test_values_after_a_resume(
    requirement: str, probe: str, first: str, second: str, outcome: str, kind: str
) -> None:
    sessions = ("take 1, save s", "load s, drain")
    check(requirement, probe, sessions, ([first, ""], ["", second]), outcome, kind, oracle=VALUES)


def distinct(*epochs: str) -> Trace:
    of = case("own streams", "drain, drain")
    return trace(of, [f"{e}." for e in epochs])


FRESH = "0:0.1|1:0.2|2:0.3|3:0.4", "0:0.5|1:0.6|2:0.7|3:0.8"
WITHIN = "0:0.1|1:0.1|2:0.1|3:0.1", "0:0.5|1:0.6|2:0.7|3:0.8"
BETWEEN = "0:0.1|1:0.2|2:0.3|3:0.4", "0:0.1|1:0.2|2:0.3|3:0.8"
SHIFTED = "0:0.1|1:0.2|2:0.3|3:0.4", "0:0.2|1:0.3|2:0.4|3:0.5"
CHANCE = "0:0.1|1:0.1|2:0.3|3:0.4", "0:0.1|1:0.6|2:0.7|3:0.8"


@pytest.mark.parametrize(
    ("requirement", "workers", "epochs", "outcome"),
    [
        ("VOWN-2", 0, FRESH, "pass"),
        ("VOWN-2", 0, WITHIN, "fails silently"),
        ("VOWN-2", 0, CHANCE, "pass"),
        ("VOWN-2", 0, BETWEEN, "pass"),
        ("VOWN-2", 0, SHIFTED, "fails silently"),
        ("VAMB-2", 0, FRESH, "pass"),
        ("VAMB-2", 0, WITHIN, "fails silently"),
        ("VAMB-2", 0, BETWEEN, "fails silently"),
        ("VAMB-2", 2, CHANCE, "pass"),
    ],
)
def test_streams_are_distinct(
    requirement: str, workers: int, epochs: tuple[str, str], outcome: str
) -> None:
    probe = "own streams" if requirement == "VOWN-2" else "ambient streams"
    kind = "values" if outcome != "pass" else ""
    texts = ([f"{e}." for e in epochs],)
    workload = dataclasses.replace(SIX, draws=("own" if requirement == "VOWN-2" else "python",))
    more = {"execution": {"workers": workers}, "workload": workload}
    check(requirement, probe, ("drain, drain",), texts, outcome, kind, **more)


@pytest.mark.parametrize(("equal", "outcome"), [(4, "pass"), (5, "fails silently")])
def test_of_many_draws_a_few_more_are_equal_by_chance(equal: int, outcome: str) -> None:
    """Of 3,000 draws of 24 bits, three are equal to others in one run of four hundred."""
    rows = [[i, float(max(i, equal))] for i in range(3000)]
    of = case("own streams", "drain", workload=dataclasses.replace(SIX, draws=("own",)))
    played = Trace(of.id, [SessionTrace([Event(0, "drain", [rows], ended=True, opened=True)])])
    finding = found("VOWN-2", of, played)
    assert finding is not None
    assert finding.outcome == outcome


def test_the_run_that_a_resume_is_compared_with_shows_its_streams_too() -> None:
    drawing = dataclasses.replace(SIX, draws=("python",))
    of = case("ambient values", "take 1, save s", "load s, drain", workload=drawing)
    t = trace(of, ["0:0.1", ""], ["", "1:0.2|2:0.3|3:0.4."])
    finding = found("VAMB-2", of, t, whole(*BETWEEN))
    assert finding is not None
    assert finding.outcome == "fails silently"
