"""The judges of Refusal, Faults and Cost, on traces written by hand."""

from __future__ import annotations

import dataclasses
import random
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
    case,
    check,
    found,
    trace,
    whole,
)

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Batch, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges import judge
from midepoch_conformance.judges.cost import MANY, ROUNDS, grows
from midepoch_conformance.scripts.evidence import compared
from midepoch_conformance.scripts.rare import grows as grows_in_scripts

# Refusal.


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["!load ValueError None is no state"], "pass", ""),
        (["", "!iter TypeError None is no state"], "pass", ""),
        (["", f"{FIRST}.", f"{SECOND}."], "fails silently", "different"),
        (["", ".", "."], "fails silently", "different"),
        (["!load KeyError 'epoch'"], "fails", "bare error"),
        (["", "01!next ValueError no"], "fails", "late error"),
    ],
)
def test_no_state(texts: list[str], outcome: str, kind: str) -> None:
    check("REFUSE-1", "no state", ("load_bogus none, drain, drain",), (texts,), outcome, kind)


def test_a_value_that_may_be_a_state_of_the_loader() -> None:
    of = case("no state", "load_bogus zero, drain, drain")
    t = trace(of, ["", f"{FIRST}.", f"{SECOND}."])
    t.sessions[0].events[0].document = "of the type of a state"
    finding = found("REFUSE-1", of, t)
    assert finding is not None
    assert finding.outcome == "not offered"


def test_a_part_removed() -> None:
    sessions = ("take 2, save s", "load_cut s, drain, drain")
    good = (CUT_FIRST, ["", "45.", f"{SECOND}."])
    check("REFUSE-2", "part removed", sessions, good, "pass")
    check("REFUSE-2", "part removed", sessions, (CUT_FIRST, ["!load ValueError no"]), "pass")
    bad = (CUT_FIRST, ["", f"{FIRST}.", f"{SECOND}."])
    check("REFUSE-2", "part removed", sessions, bad, "fails silently", "repeated")
    bare = (CUT_FIRST, ["!load KeyError 'epoch'"])
    check("REFUSE-2", "part removed", sessions, bare, "fails", "bare error")


def test_fewer_parts_than_asked_for_say_nothing() -> None:
    of = case("part removed", "take 2, save s", "load_cut s, drain, drain")
    t = trace(of, CUT_FIRST, [""])
    t.sessions[1].events[0].document = "no such part"
    assert judge(of, t, ORACLE) == []


def plan_case(**changes: Any) -> Case:
    of = case("other plan", "take 1, save s", "load s, drain, drain")
    second = dataclasses.replace(of.sessions[1], workload=tuple(changes.items()))
    return dataclasses.replace(of, sessions=(of.sessions[0], second))


@pytest.mark.parametrize(
    ("changes", "texts", "outcome", "kind"),
    [
        ({"batch_size": 3}, ["!load ValueError batch size 2, here 3"], "pass", ""),
        ({"batch_size": 3}, ["", "234|5.", "012|345."], "pass", ""),
        ({"batch_size": 3}, ["", "345.", "012|345."], "fails silently", "missing"),
        ({"n": 8}, ["", "23|45|67.", "01|23|45|67."], "pass", ""),
        ({"n": 8}, ["", "23|45.", f"{SECOND}."], "pass", ""),
        ({"n": 8}, ["", "23|45|6.", f"{SECOND}."], "fails silently", "extra"),
        ({"n": 4}, ["", "23.", "01|23."], "pass", ""),
        ({"shuffle": True}, ["", "53|24.", f"{SECOND}."], "pass", ""),
        ({"shuffle": True}, ["", "41|20.", f"{SECOND}."], "fails silently", "repeated"),
        ({"shuffle": True}, ["!load AssertionError"], "fails", "bare error"),
    ],
)
def test_a_state_of_another_plan(
    changes: dict[str, Any], texts: list[str], outcome: str, kind: str
) -> None:
    of = plan_case(**changes)
    finding = found("REFUSE-3", of, trace(of, ["01", ""], texts))
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words


@pytest.mark.parametrize(("rest", "outcome"), [("234.", "pass"), ("23.", "fails silently")])
def test_the_new_plan_may_drop_what_of_the_rest_fills_no_batch(rest: str, outcome: str) -> None:
    of = plan_case(batch_size=3)
    of = dataclasses.replace(of, workload=dataclasses.replace(of.workload, tail="drop"))
    finding = found("REFUSE-3", of, trace(of, ["01", ""], ["", rest, "012|345."]))
    assert finding is not None
    assert finding.outcome == outcome, finding.words


@pytest.mark.parametrize(
    ("rest", "outcome"), [("23.", "pass"), ("34.", "pass"), (".", "fails silently")]
)
def test_what_rolls_over_comes_in_the_next_epoch(rest: str, outcome: str) -> None:
    of = plan_case(seed=4)
    w = dataclasses.replace(of.workload, n=5, tail="rollover")
    of = dataclasses.replace(of, workload=w)
    finding = found("REFUSE-3", of, trace(of, ["01", ""], ["", rest, "41|23."]))
    assert finding is not None
    assert finding.outcome == outcome, finding.words


def test_in_batches_of_the_same_size_no_more_of_the_rest_may_be_dropped() -> None:
    of = case("changed workers", "take 1, save s", "[workers=3] load s, drain, drain")
    w = dataclasses.replace(of.workload, kind="iterable", tail="drop")
    of = dataclasses.replace(of, workload=w)
    finding = found("ELASTIC-2", of, trace(of, ["01", ""], ["", "23.", f"{FIRST}."]))
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails silently", "missing"), finding.words


def test_of_an_epoch_that_is_delivered_nothing_is_left_to_complete() -> None:
    sessions = ("take 3, save s", "load s, drain, drain")
    of = case("other plan", *sessions)
    assert found("REFUSE-3", of, trace(of, ["01|23|45", ""], ["", "01|23|45.", "."])) is None


FRESH_LOAD = ("load_bogus none?, drain?, take 1, save s, drain",)
USED_LOAD = ("take 1, load_bogus none?, take 1, save s, drain, drain",)
NO = "!load ValueError no state"


@pytest.mark.parametrize(
    ("steps", "texts", "outcome", "kind"),
    [
        (FRESH_LOAD, [NO, f"{FIRST}.", "53", "", "41|20."], "pass", ""),
        (FRESH_LOAD, ["", "!iter ValueError no", "54", "", "32|10."], "pass", ""),
        (FRESH_LOAD, [NO, "!iter RuntimeError broken", "!iter RuntimeError x"], "fails", "error"),
        (FRESH_LOAD, [NO, f"{SECOND}.", "24"], "fails silently", "different"),
        (FRESH_LOAD, ["", "!iter ValueError no", "!iter ValueError no"], "fails", "error"),
        (FRESH_LOAD, ["", "!iter ValueError no", "54", "", "10."], "fails silently", "missing"),
        (FRESH_LOAD, [NO, f"{FIRST}.", "53", "!state RuntimeError x"], "fails", "save"),
        (FRESH_LOAD, ["", f"{FIRST}.", "53", "", "41|20."], "blocked", ""),
        (FRESH_LOAD, ["!load KeyError 'epoch'", f"{FIRST}."], "blocked", ""),
        (USED_LOAD, ["01", NO, "23", "", "45.", f"{SECOND}."], "pass", ""),
        (USED_LOAD, ["01", NO, "!next RuntimeError stale"], "fails", "error"),
        (USED_LOAD, ["01", NO, "01", "", "23|45."], "fails silently", "repeated"),
    ],
)
def test_after_a_refusal(steps: tuple[str], texts: list[str], outcome: str, kind: str) -> None:
    check("REFUSE-4", "after a refusal", steps, (texts,), outcome, kind)


def of_texts(*epochs: str) -> Trace:
    """Write the uninterrupted run of a user's own loader, whose batches are texts."""
    run = whole(*epochs)
    for event in run.sessions[0].events:
        event.batches = in_texts(event.batches)
    return run


def in_texts(batches: list[Batch]) -> list[Batch]:
    """Return batches as those of a user's own loader."""
    # A text stands where the type says numbers.
    return [[[f"batch {batch}"]] for batch in batches]  # type: ignore[list-item]


ONE_ORDER, OTHER_ORDERS = (FIRST, FIRST), (FIRST, SECOND)


@pytest.mark.parametrize(
    ("epochs", "took", "rest", "outcome", "kind"),
    [
        (ONE_ORDER, "01", "23|45.", "pass", ""),
        (ONE_ORDER, "23", "45.", "fails silently", "missing"),
        (ONE_ORDER, "54", "32|10.", "fails silently", "different"),
        (OTHER_ORDERS, "01", "23|45.", "pass", ""),
        (OTHER_ORDERS, "53", "41|20.", "pass", ""),  # the refused attempt counts as an epoch
        (OTHER_ORDERS, "54", "32|10.", "pass", ""),  # or a generator went on
        (OTHER_ORDERS, "54", "32.", "fails silently", "missing"),
        (OTHER_ORDERS, "54", "32|10|01.", "fails silently", "extra"),
        ((FIRST, "01|23"), "54", "32|10|01.", "pass", ""),  # nobody knows how many come
    ],
)
def test_after_a_late_refusal_a_users_own_samples_are_those_of_a_run(
    epochs: tuple[str, str], took: str, rest: str, outcome: str, kind: str
) -> None:
    of = case("after a refusal", *FRESH_LOAD)
    t = trace(of, ["", "!iter ValueError no", took, "", rest])
    for event in t.sessions[0].events:
        event.batches = in_texts(event.batches)
    finding = found("REFUSE-4", of, t, of_texts(*epochs))
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    if finding.evidence is not None:
        counts = epochs == OTHER_ORDERS
        compared_ = compared(of, finding, finding.evidence)
        assert compared_.got.startswith("len(") is counts
        assert compared_.expected.startswith("len(") is counts


def test_a_wrong_resume_before_a_refusal_is_the_resumes_own_failure() -> None:
    of = case("after a refusal", "take 2, save s", "load s, load_bogus none?, drain")
    finding = found("REFUSE-4", of, trace(of, ["01|23", ""], ["", NO, "23|45."]))
    assert finding is not None
    assert (finding.outcome, finding.needs) == ("fails silently", ("RESUME-1",))
    used = case("after a refusal", *USED_LOAD)
    finding = found("REFUSE-4", used, trace(used, ["01", NO, "01", "", "23|45."]))
    assert finding is not None
    assert finding.needs == ()


OTHER_PLAN = (
    "take 1, save s",
    "take 1, load s?, take 1, save t, drain, drain",
    "load t, drain, drain",
)
WENT_ON = ["01", NO, "23", "", "45.", f"{SECOND}."]


@pytest.mark.parametrize(
    ("refused", "resumed", "outcome", "kind"),
    [
        (WENT_ON, ["", "45.", f"{SECOND}."], "pass", ""),
        (WENT_ON, ["", "23|45.", f"{SECOND}."], "fails silently", "repeated"),
        (WENT_ON, ["!load ValueError no state"], "fails", "refusal"),
        (["01", NO, "!next RuntimeError stale"], [], "fails", "error"),
        (["01", NO, "01", "", "23|45.", f"{SECOND}."], [], "fails silently", "repeated"),
        (["23", NO, "45", "", ".", f"{SECOND}."], [], "blocked", ""),
        (["01", "!load KeyError 'n'", "23"], [], "blocked", ""),
    ],
)
def test_after_a_state_of_another_plan_was_refused(
    refused: list[str], resumed: list[str], outcome: str, kind: str
) -> None:
    texts = (["01", ""], refused, resumed) if resumed else (["01", ""], refused)
    check("REFUSE-4", "work refused", OTHER_PLAN, texts, outcome, kind)


def test_a_state_of_another_plan_that_is_continued_is_judged_elsewhere() -> None:
    of = case("work refused", *OTHER_PLAN)
    taken = trace(of, ["01", ""], ["01", "", "23", "", "45.", f"{SECOND}."])
    assert found("REFUSE-4", of, taken) is None


# Faults.


@pytest.mark.parametrize(
    ("requirement", "probe", "text", "outcome", "kind"),
    [
        ("FAULT-1", "killed worker", "01!next RuntimeError worker died", "pass", ""),
        ("FAULT-1", "killed worker", "01|23.", "fails silently", "swallowed"),
        ("FAULT-1", "killed worker", "01!hang next", "fails", "hang"),
        ("FAULT-1", "killed worker", "01!crash next", "fails", "crash"),
        ("FAULT-2", "failing sample", "01!next WorkloadError fails on purpose", "pass", ""),
        ("FAULT-2", "failing sample", "01!next RuntimeError: fails on purpose", "pass", ""),
        ("FAULT-2", "failing sample", "01!next RuntimeError worker failed", "fails", "error"),
        ("FAULT-2", "failing sample", "!iter WorkloadError fails on purpose", "fails", "missing"),
        ("FAULT-2", "failing sample", "01|45.", "fails silently", "swallowed"),
        ("FAULT-2", "failing sample", "01.", "fails silently", "swallowed"),
        ("FAULT-2", "failing sample", "01!hang next", "fails", "hang"),
        ("FAULT-3", "stop iteration", "01!next RuntimeError StopIteration", "pass", ""),
        ("FAULT-3", "stop iteration", "01.", "fails silently", "missing"),
        ("FAULT-3", "stop iteration", "01!hang next", "fails", "hang"),
    ],
)
def test_faults(requirement: str, probe: str, text: str, outcome: str, kind: str) -> None:
    w = dataclasses.replace(SIX, fail_at=3, epochs=1)
    check(requirement, probe, ("drain",), ([text],), outcome, kind, workload=w)


@pytest.mark.parametrize(
    ("text", "outcome", "kind"),
    [
        ("23!next RuntimeError worker died", "pass", ""),
        ("23|45.", "pass", ""),  # what was read ahead, or the process was no worker
        ("23.", "fails silently", "swallowed"),
        ("23!hang next", "fails", "hang"),
    ],
)
def test_a_worker_dies_while_nothing_is_asked_of_it(text: str, outcome: str, kind: str) -> None:
    steps = ("take 1, lose, drain",)
    check("FAULT-1", "killed worker", steps, (["01", "", text],), outcome, kind)


def test_leftovers() -> None:
    of = case("left behind", "take 1, close")
    for left, outcome in ((0, "pass"), (2, "fails")):
        t = trace(of, ["01", ""])
        t.sessions[0].events[1].left = left
        finding = found("FAULT-4", of, t)
        assert finding is not None
        assert finding.outcome == outcome
    assert found("FAULT-4", of, trace(of, ["01", ""])) is None
    check(
        "FAULT-4",
        "left behind",
        ("take 1, close",),
        (["01", "!close OSError no"],),
        "fails",
        "close",
    )


# Cost.


@pytest.mark.parametrize(
    ("sizes", "outcome"),
    [
        ((1000, 1060), "pass"),
        ((1000, 1800), "fails"),
        ((1000, 1001, 1002, 1003, 1004), "fails"),
        ((1000, 1001, 1001, 1002, 1003), "pass"),
        ((1000, 1001, 1002, 1003), "pass"),
        (tuple(1000 + i // 2 for i in range(10)), "fails"),
        (tuple(1000 + i // 3 for i in range(12)), "fails"),
        (tuple(1000 + i // 4 for i in range(12)), "pass"),  # two jumps, as of numbers' digits
        ((1003, 1000, 1002, 1001, 1004, 1000, 1003, 1005, 1002, 1004, 1006, 1003), "pass"),
        ((1000, 1001, 1003, 1002, 1004, 1005, 1006, 1006, 1008, 1007, 1009, 1010), "fails"),
        ((1000, 1010, 1020, *[1030] * 9), "pass"),
        ((106, 140, 94, 128, 162, 116, 150, 104, 138, 172, 126, 189), "pass"),  # of bounded size
    ],
)
def test_sizes(sizes: tuple[int, ...], outcome: str) -> None:
    of = case("size", ", ".join(f"save s{i}" for i in range(len(sizes))))
    t = trace(of, [""] * len(sizes))
    for event, size in zip(t.sessions[0].events, sizes, strict=True):
        event.size = size
    finding = found("COST-1", of, t)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(("grows", "outcome"), [(0, "pass"), (1, "fails")])
def test_sizes_over_resumes(grows: int, outcome: str) -> None:
    sessions = ("save s0", *(f"load s{i}, save s{i + 1}" for i in range(5)))
    of = case("size", *sessions)
    t = trace(of, [""], *(["", ""] for _ in range(5)))
    for number, played in enumerate(t.sessions):
        played.events[-1].size = 1000 + grows * number
    finding = found("COST-1", of, t)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(("calls", "outcome"), [(5, "pass"), (40, "fails")])
def test_calls(calls: int, outcome: str) -> None:
    of = case("calls", "drain", interval=3)
    t = trace(of, [f"{FIRST}."])
    t.sessions[0].events[0].calls = {"state_dict": calls, "iter": 1}
    finding = found("COST-2", of, t)
    assert finding is not None
    assert finding.outcome == outcome


def test_batches_that_are_made_ahead_are_saved_as_well() -> None:
    """A loader that is asked for three batches may have made more of them."""
    for fetched, outcome in ((3, "fails"), (19, "pass")):
        w = dataclasses.replace(SIX, batch_size=1, n=24)
        of = case("calls", "take 3", workload=w, interval=3)
        t = trace(of, ["0|1|2"])
        event = t.sessions[0].events[0]
        event.calls, event.fetched = {"state_dict": 10}, fetched
        finding = found("COST-2", of, t, whole("|".join("0123456789" * 3)))
        assert finding is not None
        assert finding.outcome == outcome, finding.words


def test_lanes_round_the_interval_down() -> None:
    """The reference calls state_dict 504 times in 1000 batches at interval 20 on 8 lanes."""
    w = Workload("stateful_iterable", n=2, batch_size=2)
    of = case("calls", "drain", workload=w, interval=20, lanes=8)
    batches = "|".join("0" for _ in range(1000))
    for calls, outcome in ((504, "pass"), (532, "pass"), (533, "fails")):
        t, oracle = trace(of, [f"{batches}."]), whole(batches)
        t.sessions[0].events[0].calls = {"state_dict": calls}
        finding = found("COST-2", of, t, oracle)
        assert finding is not None
        assert finding.outcome == outcome, finding.words


@pytest.mark.parametrize(("grows", "outcome"), [(0, "pass"), (1, "fails")])
def test_calls_over_epochs(grows: int, outcome: str) -> None:
    of = case("calls", "drain, drain, drain, drain, drain", interval=3)
    t, oracle = trace(of, [f"{FIRST}."] * 5), whole(*[FIRST] * 5)
    for number, event in enumerate(t.sessions[0].events):
        event.calls = {"state_dict": 1 + grows * number}
    finding = found("COST-2", of, t, oracle)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(("grows", "outcome"), [(0, "pass"), (1, "fails")])
def test_calls_over_resumes(grows: int, outcome: str) -> None:
    """The first session resumes nothing: its many calls hide no slope."""
    later = [f"load s{i}, take 1, save s{i + 1}" for i in range(11)]
    of = case("calls", "take 1, save s0", *later, interval=3)
    t = trace(of, ["0", ""], *(["", "0", ""] for _ in later))
    for number, played in enumerate(t.sessions):
        played.events[-2].calls = {"state_dict": grows * number // 3 if number else 4}
    finding = found("COST-2", of, t, whole("|".join("0" * 12)))
    assert finding is not None
    assert finding.outcome == outcome, finding.words


def test_a_script_finds_the_slopes_that_the_judge_finds() -> None:
    chance = random.Random(1)
    for _ in range(500):
        slope, noise = chance.random(), chance.randrange(4)
        numbers = [int(i * slope) + chance.randint(0, noise) for i in range(chance.randint(2, 14))]
        assert grows_in_scripts(numbers, ROUNDS, MANY) is grows(numbers)


@pytest.mark.parametrize(("late", "outcome"), [(30, "pass"), (900, "fails")])
def test_fetches(late: int, outcome: str) -> None:
    of = case("fetched again", "take 1, save a, take 1, save b", "load a, take 1", "load b, take 1")
    t = trace(of, ["01", "", "23", ""], ["", "23"], ["", "45"])
    t.sessions[1].events[1].fetched, t.sessions[2].events[1].fetched = 10, late
    finding = found("COST-3", of, t)
    assert finding is not None
    assert finding.outcome == outcome
    wrong = trace(of, ["01", "", "23", ""], ["", "01"], ["", "45"])
    finding = found("COST-3", of, wrong)
    assert finding is not None
    assert finding.outcome == "blocked"


@pytest.mark.parametrize(
    ("count", "again", "outcome"),
    [(2, 0, "pass"), (3, 1, "fails"), (3, 0, "pass")],
    ids=["once", "twice", "ahead"],
)
def test_iterations(count: int, again: int, outcome: str) -> None:
    of = case("iterated again", *CUT)
    t = trace(of, CUT_FIRST, ["", "45.", f"{SECOND}."])
    t.sessions[1].events[1].calls = {"iter": count, "again": again}
    finding = found("COST-4", of, t)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(
    ("kind", "copies", "most", "earlier"),
    [("stateful_iterable", 2, 5, 1), ("iterable", 2, 4, 0), ("stateful_iterable", 1, 2, 0)],
)
def test_a_copy_may_be_at_the_end_of_an_earlier_pass(
    kind: str, copies: int, most: int, earlier: int
) -> None:
    """Of two lanes the second one has delivered nothing of the epoch yet."""
    w = dataclasses.replace(SIX, kind=kind)
    sessions = ("drain, take 1, save s", "load s, drain, drain")
    of = case("iterated again", *sessions, workload=w, lanes=copies)
    t = trace(of, [f"{FIRST}.", "53", ""], ["", "41|20.", f"{THIRD}."])
    for more, outcome in ((0, "pass"), (1, "fails")):
        t.sessions[1].events[1].calls = {"iter": most + more, "again": earlier + more}
        finding = found("COST-4", of, t)
        assert finding is not None
        assert finding.outcome == outcome, finding.words


NO_START = "the dataset fails on purpose when it is set up"


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        ([f"!load WorkloadError {NO_START}"], "pass", ""),
        (["", f"!iter RuntimeError in a worker: {NO_START}"], "pass", ""),
        (["", "45."], "fails silently", "swallowed"),
        (["", "."], "fails silently", "swallowed"),
        (["", f"45!next WorkloadError {NO_START}"], "fails silently", "swallowed"),
        (["", "!hang iter"], "fails", "hang"),
        (["", "!iter RuntimeError no workers"], "fails", "error"),
    ],
)
def test_a_dataset_that_cannot_be_set_up(texts: list[str], outcome: str, kind: str) -> None:
    of = case("failing start", "take 2, save s", "load s, drain")
    second = dataclasses.replace(of.sessions[1], workload=(("fail_at", -1),))
    of = dataclasses.replace(of, sessions=(of.sessions[0], second))
    finding = found("FAULT-2", of, trace(of, CUT_FIRST, texts))
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words


def test_what_fails_before_a_failing_start_blocks_it() -> None:
    of = case("failing start", "take 2, save s", "load s, drain")
    second = dataclasses.replace(of.sessions[1], workload=(("fail_at", -1),))
    of = dataclasses.replace(of, sessions=(of.sessions[0], second))
    finding = found("FAULT-2", of, trace(of, ["01|45", ""], ["", "."]))
    assert finding is not None
    assert finding.outcome == "blocked"
    plain = case("failing start", "drain")
    assert found("FAULT-2", plain, trace(plain, [f"{FIRST}."])) is None
