"""The judges of Basis, Resume and Epochs, each on traces that pass and that do not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from written import (
    CUT,
    CUT_FIRST,
    FIRST,
    ORACLE,
    SECOND,
    SIX,
    THIRD,
    batches,
    case,
    check,
    fault,
    found,
    trace,
    whole,
)

from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges import REGISTRY, judge
from midepoch_conformance.verdict import requirements

LATER = ("drain, take 1, save s", "load s, drain, drain")


# The registry.


def test_every_requirement_has_a_judge_or_a_reason() -> None:
    for requirement in requirements.load().values():
        assert (requirement.id in REGISTRY) is (requirement.unjudged is None), requirement.id


def test_a_finding_says_where_it_was_found() -> None:
    of = case("cut", *CUT, workers=2)
    (resume, epoch) = judge(of, trace(of, CUT_FIRST, ["", "45.", f"{SECOND}."]), ORACLE)
    assert (resume.requirement, epoch.requirement) == ("RESUME-1", "EPOCH-1")
    assert (resume.workload, resume.workers, resume.case) == ("map", (2,), of.id)


def test_an_error_of_the_adapter_is_nobodys_failure() -> None:
    of = case("cut", *CUT)
    t = trace(of, CUT_FIRST, ["!adapter NameError rows"])
    assert {f.outcome for f in judge(of, t, ORACLE)} == {"error"}


def test_an_error_of_the_adapter_is_seen_behind_a_tolerated_one() -> None:
    of = case("history", "take 3?, load_bogus empty?, drain")
    t = trace(of, ["01!next WorkloadError x", "!adapter KeyError epoch", ""])
    assert {f.outcome for f in judge(of, t, ORACLE)} == {"not offered"}


def test_an_error_of_a_judge_is_an_error_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def slips(view: object) -> None:
        raise IndexError("list index out of range")

    judge_ = dataclasses.replace(REGISTRY["RESUME-1"], function=slips)
    monkeypatch.setitem(REGISTRY, "RESUME-1", judge_)
    of = case("cut", *CUT)
    (finding, other) = judge(of, trace(of, CUT_FIRST, ["", "45.", f"{SECOND}."]), ORACLE)
    assert (finding.outcome, finding.kind, other.outcome) == ("error", "judge", "pass")
    assert "IndexError: list index out of range (test_judges.py, line" in finding.words


@pytest.mark.parametrize(
    ("requirement", "family", "cut"),
    [
        ("REFUSE-2", "part removed", "load_cut s, drain"),
        ("REFUSE-4", "after a refused part", "load_cut s -1?, drain"),
    ],
)
def test_what_an_adapter_keeps_beside_the_state_is_not_judged_when_cut(
    requirement: str, family: str, cut: str
) -> None:
    of = case(family, "take 1, save s", cut)
    finding = found(requirement, of, trace(of, ["01", ""], ["!adapter KeyError epoch"]))
    assert finding is not None
    assert finding.outcome == "not offered"


def test_without_an_uninterrupted_run_only_the_basis_speaks() -> None:
    broken = whole(FIRST)
    broken.sessions[0].events[0].fault = fault("next RuntimeError worker failed")
    of = case("cut", *CUT)
    (resume, _, run) = judge(of, trace(of, CUT_FIRST, ["", "45."]), broken)
    assert (resume.outcome, resume.kind) == ("not offered", "oracle")
    assert (run.requirement, run.outcome, run.kind) == ("BASIS-1", "fails", "late error")
    refusing = whole()
    refusing.sessions[0].events[:] = []
    refusing.sessions[0].fault = fault("open ValueError batch_size 4 is not supported")
    assert [f.outcome for f in judge(of, trace(of), refusing)] == ["not offered"] * 2
    plain = case("plain", "drain, drain")
    basis = found("BASIS-1", plain, trace(plain, []), broken)
    assert basis is not None
    assert (basis.outcome, basis.kind) == ("fails", "late error")


# Basis.

PLAIN = ("drain, drain, drain",)
GOOD = ([f"{FIRST}.", f"{SECOND}.", f"{THIRD}."],)
THREE = dataclasses.replace(SIX, epochs=3)
BASIS = [
    ("BASIS-1", GOOD, "pass", ""),
    ("BASIS-1", ([f"{FIRST}.", "53!next RuntimeError no"],), "fails", "late error"),
    ("BASIS-1", ([f"{FIRST}.", "!hang next"],), "fails", "hang"),
    ("BASIS-1", (["!iter AssertionError"],), "fails", "bare error"),
    ("BASIS-1", (["!iter ValueError batch_size 4 is not supported"],), "not offered", ""),
    ("BASIS-1", (["01", "."],), "fails silently", "missing"),
    ("BASIS-1", ([f"{FIRST}.", f"{SECOND}.", "."],), "fails silently", "missing"),
    ("BASIS-1", ([f"{FIRST}.", ".", f"{SECOND}."],), "fails silently", "missing"),
    ("BASIS-2", GOOD, "pass", ""),
    ("BASIS-2", (["10|23|45.", f"{SECOND}.", f"{THIRD}."],), "fails silently", "reordered"),
    ("BASIS-2", ([f"{FIRST}.", "53!next RuntimeError no"],), "blocked", ""),
]


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        ([f"{FIRST}.", "53!next RuntimeError the buffer is full"], "fails", "late error"),
        ([f"{FIRST}.", "53!hang next"], "fails", "hang"),
        (["!iter ValueError no such data"], "blocked", ""),
    ],
)
def test_only_the_second_run_has_a_slow_worker(texts: list[str], outcome: str, kind: str) -> None:
    check("BASIS-2", "uneven plain", PLAIN, (texts,), outcome, kind, workload=THREE)


@pytest.mark.parametrize(("requirement", "texts", "outcome", "kind"), BASIS)
def test_basis(requirement: str, texts: tuple[list[str], ...], outcome: str, kind: str) -> None:
    check(requirement, "plain", PLAIN, texts, outcome, kind, workload=THREE)


@pytest.mark.parametrize(
    ("texts", "tail", "outcome", "kind"),
    [
        (["01|23|45.", "54|32|10."], "keep", "pass", ""),
        (["01|23|4.", "01|23|45."], "drop", "fails silently", "missing"),
        (["01|23.", "01|23|45."], "keep", "fails silently", "missing"),
        (["01|23|45.", "01|23|44."], "keep", "fails silently", "repeated"),
        (["01|2.", "01|23|45."], "drop", "fails silently", "missing"),
        (["01|22|34.", "01|23|45."], "drop", "fails silently", "repeated"),
    ],
)
def test_each_sample_once(texts: list[str], tail: str, outcome: str, kind: str) -> None:
    w = dataclasses.replace(SIX, tail=tail)
    check("BASIS-3", "whole", ("drain, drain",), (texts,), outcome, kind, workload=w)


def test_an_empty_dataset_runs() -> None:
    w = dataclasses.replace(SIX, n=0)
    check(
        "BASIS-1",
        "plain",
        ("drain, drain",),
        ([".", "."],),
        "pass",
        workload=w,
        oracle=whole("", ""),
    )


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"grow": -3}, ["01|23|45.", "01|2.", "."]),
        ({"n": 5, "grow": -2, "tail": "drop"}, ["01|23.", "01.", "."]),
        ({"n": 1, "tail": "drop"}, [".", ".", "."]),
        ({"n": 1, "tail": "rollover"}, [".", "00.", "."]),
        ({"kind": "iterable", "stream": "oneshot"}, ["01|23|45.", ".", "."]),
    ],
)
def test_an_epoch_without_a_batch_may_be_right(changes: dict[str, Any], texts: list[str]) -> None:
    w = dataclasses.replace(THREE, **changes)
    run = whole(*(text.removesuffix(".") for text in texts))
    check("BASIS-1", "plain", PLAIN, (texts,), "pass", workload=w, oracle=run)


def test_with_lanes_each_may_drop_its_incomplete_batch() -> None:
    w = dataclasses.replace(SIX, kind="iterable", tail="drop")
    lanes = {"workers": 2, "lanes": 2}
    check("BASIS-3", "whole", ("drain",), (["01|23."],), "pass", workload=w, execution=lanes)
    check(
        "BASIS-3", "whole", ("drain",), (["01."],), "fails silently", "missing",
        workload=w, execution=lanes,
    )  # fmt: skip


SAVING = ("take 1, save a, drain, drain",)


def test_random_access_drops_the_incomplete_batch_of_the_epoch_alone() -> None:
    w = Workload(n=7, batch_size=2, tail="drop")
    workers = {"workers": 3}
    good, bad = ["01|23|45."], ["01|23."]
    check("BASIS-3", "whole", ("drain",), (good,), "pass", workload=w, execution=workers)
    check(
        "BASIS-3", "whole", ("drain",), (bad,), "fails silently", "missing",
        workload=w, execution=workers,
    )  # fmt: skip


def test_a_longer_epoch_drops_its_own_incomplete_batch() -> None:
    w = Workload(n=4, grow=1, epochs=2, batch_size=2, tail="drop")
    check("BASIS-3", "whole", ("drain, drain",), (["01|23.", "01|23."],), "pass", workload=w)
    check(
        "BASIS-3", "whole", ("drain, drain",), (["01|23.", "01."],), "fails silently", "missing",
        workload=w,
    )  # fmt: skip


def test_only_the_incomplete_last_batch_may_be_dropped() -> None:
    w = Workload(n=7, batch_size=2, tail="drop")
    check("BASIS-3", "whole", ("drain",), (["01|23|45."],), "pass", workload=w)
    first = (["12|34|56."],)
    check(
        "BASIS-3", "whole", ("drain",), first, "fails silently", "missing", "sample 0 is missing",
        workload=w,
    )  # fmt: skip
    check("BASIS-3", "whole", ("drain",), (["65|43|21."],), "pass", workload=w)  # it descends
    # Workers may divide the samples otherwise, and a shuffled order ends with any of them.
    check("BASIS-3", "whole", ("drain",), first, "pass", workload=w, execution={"workers": 2})
    shuffled = dataclasses.replace(w, shuffle=True)
    check("BASIS-3", "whole", ("drain",), first, "pass", workload=shuffled)


def test_saving_changes_nothing() -> None:
    good = (["01", "", "23|45.", f"{SECOND}."],)
    check("BASIS-4", "saving", SAVING, good, "pass")
    bad = (["01", "", "45.", f"{SECOND}."],)
    check("BASIS-4", "saving", SAVING, bad, "fails silently", "missing", "1 batch skipped")
    check("BASIS-4", "saving", SAVING, (["01", "!state ValueError no"],), "blocked")


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["", "", "23", "", "45."], "pass", ""),
        (["", "", "23", "", "."], "fails silently", "missing"),
        (["", "", "23", "", "!next RuntimeError no"], "fails", "late error"),
        (["", "", "23", "!state ValueError no"], "blocked", ""),
        (["!load ValueError no"], "blocked", ""),
        (["", "", "!next ValueError no"], "blocked", ""),
    ],
)
def test_saving_after_a_load_changes_nothing(texts: list[str], outcome: str, kind: str) -> None:
    sessions = ("take 1, save s", "load s, save t, take 1, save u, drain")
    of = case("saving", *sessions)
    finding = found("BASIS-4", of, trace(of, ["01", ""], texts))
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    if outcome.startswith("fails"):
        assert finding.needs == ("RESUME-1",)


def test_saving_draws_nothing() -> None:
    texts = (["01", "", "23|45.", f"{SECOND}."],)
    check("BASIS-5", "saving", SAVING, texts, "pass", drew=False)
    check(
        "BASIS-5", "saving", SAVING, texts, "fails silently", "values", "save number 1", drew=True
    )
    of = case("saving", *SAVING)
    assert found("BASIS-5", of, trace(of, *texts)) is None


# Resume and Epochs.

RESUMED = [
    (["", "45.", f"{SECOND}."], "pass", "", "pass", ""),
    (["", ".", "45."], "pass", "", "pass", ""),
    (["", "01|23|45.", f"{SECOND}."], "fails silently", "repeated", "blocked", ""),
    (["", ".", "."], "fails silently", "missing", "blocked", ""),
    (["", "23|45.", f"{SECOND}."], "fails silently", "repeated", "blocked", ""),
    (["", "45.", "41|20."], "pass", "", "fails silently", "missing"),
    (["", "45.", f"{FIRST}."], "pass", "", "fails silently", "different"),
    (["", "45.", "!iter ValueError no"], "pass", "", "fails", "late error"),
    (["!load ValueError other plan"], "refused", "", "blocked", ""),
    (["", "!iter ValueError other plan"], "refused", "", "blocked", ""),
    (["!load KeyError 'epoch'"], "fails", "bare error", "blocked", ""),
    (["", "45!next ValueError no"], "fails", "late error", "blocked", ""),
    (["", "!hang iter"], "fails", "hang", "blocked", ""),
]


@pytest.mark.parametrize(("texts", "outcome", "kind", "later", "later_kind"), RESUMED)
def test_a_cut(texts: list[str], outcome: str, kind: str, later: str, later_kind: str) -> None:
    check("RESUME-1", "cut", CUT, (CUT_FIRST, texts), outcome, kind)
    check("EPOCH-1", "cut", CUT, (CUT_FIRST, texts), later, later_kind)


def test_a_state_that_cannot_be_taken_fails_its_own_requirement_alone() -> None:
    texts = (["01|23", "!state RuntimeError not now"],)
    check("RESUME-1", "cut", CUT, texts, "fails", "save")
    check("EPOCH-1", "cut", CUT, texts, "blocked")


def test_a_first_session_that_is_wrong_itself_blocks() -> None:
    texts = (["01|45", ""], ["", "45.", f"{SECOND}."])
    check("RESUME-1", "cut", CUT, texts, "blocked", "", "before the state was taken")


def test_a_cut_at_the_end_is_no_cut() -> None:
    of = case("cut", "take 3, save s", "load s, drain, drain")
    t = trace(of, [FIRST, ""], ["", ".", f"{SECOND}."])
    assert judge(of, t, ORACLE) == []


CHAIN = ("take 1, save a", "load a, take 1, save b", "load b, drain, drain")


@pytest.mark.parametrize(
    ("second", "third", "outcome", "kind"),
    [
        (["", "23", ""], ["", "45.", f"{SECOND}."], "pass", ""),
        (["", "23", ""], ["", "23|45.", f"{SECOND}."], "fails silently", "repeated"),
        (["", "45", ""], ["", "45.", f"{SECOND}."], "blocked", ""),
        (["", "23", "!state RuntimeError no"], [], "fails", "save"),
        (["", "23", ""], ["!load ValueError no"], "refused", ""),
    ],
)
def test_a_chain(second: list[str], third: list[str], outcome: str, kind: str) -> None:
    check("RESUME-2", "chain", CHAIN, (["01", ""], second, third), outcome, kind)


RESAVE = ("take 2, save a", "load a, save b", "load b, drain")


@pytest.mark.parametrize(("requirement", "probe"), [("RESUME-3", "resave"), ("STATE-4", "reload")])
def test_a_state_taken_right_after_a_load(requirement: str, probe: str) -> None:
    first = ["01|23", ""]
    check(requirement, probe, RESAVE, (first, ["", ""], ["", "45."]), "pass")
    bad = (first, ["", ""], ["", "01|23|45."])
    check(requirement, probe, RESAVE, bad, "fails silently", "repeated")
    check(requirement, probe, RESAVE, (first, ["", "!state KeyError no"]), "fails", "save")
    check(requirement, probe, RESAVE, (first, ["", ""], ["!load ValueError no"]), "refused")


def test_from_the_start() -> None:
    sessions = ("save s", "load s, drain, drain")
    check("RESUME-4", "start", sessions, ([""], ["", f"{FIRST}.", f"{SECOND}."]), "pass")
    check("RESUME-4", "start", sessions, ([""], ["", f"{FIRST}.", "."]), "pass")
    bad = ([""], ["", "23|45.", f"{SECOND}."])
    check("RESUME-4", "start", sessions, bad, "fails silently", "missing")


LIVE = ("take 1, save s", "take 2, load s, take 1?, break, drain, drain")


STALE = "!next RuntimeError stale"


def lived(texts: list[str], live_load: str = "either") -> tuple[str, str]:
    """Return what is found of the live iterator, and of the next one: RESUME-5 and RESUME-8."""
    of = case("live", *LIVE)
    found = {f.requirement: f for f in judge(of, trace(of, ["01", ""], texts), ORACLE, live_load)}
    ids = ("RESUME-5", "RESUME-8")
    of_both = [f"{found[i].outcome} {found[i].kind}".strip() if i in found else "" for i in ids]
    if live_load == "next" and of_both[0] == "pass" and not texts[2].startswith("!"):
        effect = "the load takes effect on the live iterator"
        goes_on = "documented: applies to the next iter()"
        assert found["RESUME-5"].words == (effect if texts[2] == "23" else goes_on)
    return of_both[0], of_both[1]


@pytest.mark.parametrize(
    ("texts", "live", "after"),
    [
        (["01|23", "", STALE, "", "23|45.", f"{SECOND}."], "pass", "pass"),
        (["01|23", "", STALE, "", ".", "23|45."], "pass", "pass"),
        (["01|23", "", "23", "", f"{SECOND}.", f"{THIRD}."], "pass", ""),
        (["01|23", "!load RuntimeError an iterator is live"], "pass", ""),
        (["01|23", "", "45", "", "23|45.", f"{SECOND}."], "fails silently ignored", ""),
        (["01|23", "", ".", "", "23|45.", f"{SECOND}."], "fails silently ignored", ""),
        (["01|23", "", STALE, "", f"{FIRST}."], "pass", "fails silently ignored"),
        (["01|23", "", STALE, "", ".", "."], "pass", "fails silently missing"),
        (["01|23", "", STALE, "", "!iter RuntimeError x"], "pass", "pass"),  # it refuses in words
        (["01|23", "", STALE, "", "!iter KeyError x"], "pass", "fails bare error"),
        (["01|23", "", STALE, "", "23!next RuntimeError x"], "pass", "fails late error"),
        (["01|23", "", "!hang next"], "fails hang", "blocked"),
        (["45", "", "23", "", f"{SECOND}."], "blocked", "blocked"),
    ],
)
def test_a_live_load(texts: list[str], live: str, after: str) -> None:
    assert lived(texts) == (live, after)


@pytest.mark.parametrize(
    ("texts", "live", "after"),
    [
        (["01|23", "", "45", "", "23|45.", f"{SECOND}."], "pass", "pass"),
        (["01|23", "", STALE, "", "23|45.", f"{SECOND}."], "pass", "pass"),
        (["01|23", "", "23", "", f"{SECOND}.", f"{THIRD}."], "pass", ""),
        (["01|23", "", "45", "", ".", "23|45."], "pass", "pass"),
        (["01|23", "", "45", "", f"{SECOND}.", f"{THIRD}."], "pass", "fails silently ignored"),
        (["01|23", "", "45", "", f"{FIRST}.", f"{SECOND}."], "pass", "fails silently ignored"),
        (["01|23", "", "45", "", ".", "."], "pass", "fails silently missing"),
        (
            ["01|23", "", "01", "", "23|45.", f"{SECOND}."],
            "fails silently different",
            "pass",
        ),
        (["01|23", "", "45", "", "!iter RuntimeError x"], "pass", "pass"),
        (["01|23", "", "45", "", "!iter KeyError x"], "pass", "fails bare error"),
        (["01|23", "", "!hang next"], "fails hang", "blocked"),
    ],
)
def test_a_live_load_that_is_documented_for_the_next_iterator(
    texts: list[str], live: str, after: str
) -> None:
    assert lived(texts, "next") == (live, after)


def test_nothing_is_due_after_a_live_load_where_there_are_no_samples() -> None:
    nothing = Workload(n=0, batch_size=2)
    texts = ([".", ""], [".", "", STALE, "", ".", "."])
    check("RESUME-8", "live", LIVE, texts, "pass", workload=nothing, oracle=whole("", ""))


def test_a_live_load_that_only_the_next_iterator_shows() -> None:
    sessions = ("take 1, save s", "take 2, load s, break, drain, drain")
    good = (["01", ""], ["01|23", "", "", "23|45.", f"{SECOND}."])
    check("RESUME-8", "live", sessions, good, "pass")
    bad = (["01", ""], ["01|23", "", "", f"{SECOND}.", f"{THIRD}."])
    check("RESUME-8", "live", sessions, bad, "fails silently", "different")
    # The load took effect on the iterator that was dropped, as it is documented.
    of = case("live", *sessions)
    found = {f.requirement for f in judge(of, trace(of, *bad), ORACLE, "applies")}
    assert "RESUME-8" not in found


def test_into_a_used_loader() -> None:
    sessions = ("take 2, save s", "drain, take 1, break, load s, drain, drain")
    used = [f"{FIRST}.", "53", "", ""]
    check("RESUME-6", "used", sessions, (CUT_FIRST, [*used, "45.", f"{SECOND}."]), "pass")
    bad = (CUT_FIRST, [*used, "41|20.", f"{THIRD}."])
    check("RESUME-6", "used", sessions, bad, "fails silently", "repeated")
    wrong = (CUT_FIRST, [f"{SECOND}.", "53", "", "", "45.", f"{SECOND}."])
    check("RESUME-6", "used", sessions, wrong, "blocked", "", "before the load")


def test_the_epochs_after_a_load_into_a_used_loader() -> None:
    sessions = ("take 2, save s", "drain, take 1, break, load s, drain, drain")
    of = case("used", *sessions)
    t = trace(of, CUT_FIRST, [f"{FIRST}.", "53", "", "", "45.", f"{THIRD}."])
    finding = found("RESUME-6", of, t)
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails silently", "different"), finding.words
    assert finding.needs == ("EPOCH-1",)  # or a fresh loader gives another epoch, too


DEAD = ("take 1, save s", "drain?, load s, break, drain, drain")
DIED = "01|23!next RuntimeError a worker died"


@pytest.mark.parametrize(
    ("first", "second", "outcome", "kind"),
    [
        (["01", ""], [DIED, "", "", "23|45.", f"{SECOND}."], "pass", ""),
        (["01", ""], [DIED, "", "", f"{FIRST}.", f"{SECOND}."], "fails silently", "repeated"),
        (["01", ""], [DIED, "", "", "23|45.", f"{THIRD}."], "fails silently", "different"),
        (["01", ""], [DIED, "!load ValueError no"], "refused", ""),
        (["01", ""], ["01!hang next"], "blocked", ""),
        (["01", ""], ["10!next RuntimeError x", "", "", "23|45.", f"{SECOND}."], "blocked", ""),
        (["10", ""], [DIED, "", "", "23|45.", f"{SECOND}."], "blocked", ""),
    ],
)
def test_into_a_loader_whose_worker_died(
    first: list[str], second: list[str], outcome: str, kind: str
) -> None:
    check("RESUME-6", "used after a death", DEAD, (first, second), outcome, kind)


def test_a_state_taken_after_a_load_into_a_used_loader() -> None:
    fresh, used = ("load s, save t", "load t, drain"), ("drain, load s, save u", "load u, drain")
    sessions = ("take 2, save s", *fresh, *used)
    right, use = ["", "45."], [f"{FIRST}.", "", ""]
    check("RESUME-6", "used", sessions, (CUT_FIRST, ["", ""], right, use, right), "pass")
    over = (CUT_FIRST, ["", ""], right, use, ["", f"{FIRST}."])
    check("RESUME-6", "used", sessions, over, "fails silently", "repeated")
    both = (CUT_FIRST, ["", ""], ["", f"{FIRST}."], use, ["", f"{FIRST}."])
    check("RESUME-6", "used", sessions, both, "blocked", "", "with a fresh loader too")
    twice = [
        f"{steps}, drain" if "load t" in steps or "load u" in steps else steps for steps in sessions
    ]
    later = ["", "45.", f"{THIRD}."]
    both = (CUT_FIRST, ["", ""], later, use, later)
    check("RESUME-6", "used", tuple(twice), both, "blocked", "", "with a fresh loader too")


@pytest.mark.parametrize("requirement", ["EPOCH-2", "EPOCH-3"])
@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["", f"{SECOND}.", f"{THIRD}.", f"{FIRST}."], "pass", ""),
        (["", ".", f"{SECOND}.", f"{THIRD}."], "pass", ""),
        (["", f"{FIRST}.", f"{SECOND}."], "fails silently", "different"),
        (["", f"{THIRD}.", f"{FIRST}."], "fails silently", "different"),
        (["", ".", ".", "."], "fails silently", "missing"),
        (["", "41|20.", f"{THIRD}."], "fails silently", "missing"),
        (["!load ValueError no"], "refused", ""),
        (["!load IndexError no"], "fails", "bare error"),
    ],
)
def test_an_end(requirement: str, texts: list[str], outcome: str, kind: str) -> None:
    seen = requirement == "EPOCH-2"
    first, before = ("drain", f"{FIRST}.") if seen else ("take 3", FIRST)
    sessions = (f"{first}, save s", "load s, drain, drain, drain")
    probe = "end seen" if seen else "end unseen"
    check(requirement, probe, sessions, ([before, ""], texts), outcome, kind)


def test_a_wrong_order_after_an_end_needs_the_later_epochs() -> None:
    of = case("end seen", "drain, save s", "load s, drain, drain, drain")
    reordered = trace(of, [f"{FIRST}.", ""], ["", "54|31|20.", f"{THIRD}.", "."])
    finding = found("EPOCH-2", of, reordered)
    assert finding is not None
    assert (finding.outcome, finding.needs) == ("fails silently", ("EPOCH-1",))
    dropped = trace(of, [f"{FIRST}.", ""], ["", "41|20.", f"{THIRD}.", "."])
    finding = found("EPOCH-2", of, dropped)
    assert finding is not None
    assert finding.needs == ()


def test_a_later_epoch() -> None:
    first = [f"{FIRST}.", "53", ""]
    check("EPOCH-4", "later", LATER, (first, ["", "41|20.", f"{THIRD}."]), "pass")
    bad = (first, ["", "23|45.", f"{THIRD}."])
    check("EPOCH-4", "later", LATER, bad, "fails silently", "repeated")
    check("EPOCH-1", "later", LATER, bad, "blocked")
    check("EPOCH-1", "later", LATER, (first, ["", "41|20.", "05|13."]), "fails silently", "missing")


BREAK = ("take 1, break, take 1, break, drain, drain",)


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["01", "", "53", "", f"{THIRD}.", f"{FIRST}."], "pass", ""),
        (["01", "", "32", "", "53|41|20.", "10|32|45."], "pass", ""),
        (["01", "", "53", "", "05|13.", f"{FIRST}."], "fails silently", "missing"),
        (["01", "", "53", "", "24|05|11.", f"{FIRST}."], "fails silently", "repeated"),
        (["01", "", "!iter RuntimeError no"], "fails", "error"),
        (["!iter RuntimeError no"], "blocked", ""),
    ],
)
def test_a_break(texts: list[str], outcome: str, kind: str) -> None:
    check("EPOCH-5", "break", BREAK, (texts,), outcome, kind)


NAMED = ("drain, save s, name_epoch 2, take 1, save t", "load s, drain", "load t, drain")
NAMES = ([f"{FIRST}.", "", "", "24", ""], ["", f"{SECOND}."], ["", "05|13."])


@pytest.mark.parametrize(
    ("changed", "outcome", "words"),
    [
        ({}, "pass", ""),
        ({0: [f"{FIRST}.", "", "", "53", ""]}, "fails silently", "epoch 2"),
        ({1: ["", f"{THIRD}."]}, "fails silently", "epoch 1"),
        ({2: ["", "20."]}, "fails silently", "epoch 2"),
        ({0: ["!next ValueError no"]}, "blocked", "before an epoch is named"),
        ({0: [f"{FIRST}.", "", "!name ValueError no"]}, "fails", "ValueError"),
    ],
)
def test_a_named_epoch(changed: dict[int, list[str]], outcome: str, words: str) -> None:
    of = case("named epoch", *NAMED)
    texts = [changed.get(index, text) for index, text in enumerate(NAMES)]
    finding = found("EPOCH-8", of, trace(of, *texts))
    assert finding is not None
    assert finding.outcome == outcome, finding.words
    assert words in finding.words


@pytest.mark.parametrize(
    ("refusal", "last", "outcome"),
    [
        ("!load ValueError no", f"{THIRD}.", "pass"),
        ("!load ValueError no", f"{SECOND}.", "fails silently"),
        ("", f"{THIRD}.", "blocked"),
    ],
)
def test_a_named_epoch_after_a_refused_load(refusal: str, last: str, outcome: str) -> None:
    of = case("named epoch", "drain, name_epoch 2, load_bogus list?, drain")
    finding = found("EPOCH-8", of, trace(of, [f"{FIRST}.", "", refusal, last]))
    assert finding is not None
    assert finding.outcome == outcome, finding.words


def test_the_data_of_a_failure_are_the_batches() -> None:
    of = case("cut", *CUT)
    finding = found("RESUME-1", of, trace(of, CUT_FIRST, ["", "01|23|45."]))
    assert finding is not None
    assert finding.expected == batches("45")
    assert finding.got == batches(FIRST)
