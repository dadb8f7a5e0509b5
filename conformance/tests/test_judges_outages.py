"""The judges of caught exceptions, dead workers, leaks and fetches, on traces written by hand."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from written import FIRST, ORACLE, SECOND, SIX, case, check, found, played, run, trace, whole

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import SessionPlan, Step
from midepoch_conformance.case.trace import Event, Trace
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.finding import Finding

# A killed process.


def test_a_state_from_before_a_kill() -> None:
    sessions = ("take 1, save s, take 1, kill", "load s, drain, drain")
    first = ["01", "", "23", ""]
    check("RESUME-1", "killed", sessions, (first, ["", "23|45.", f"{SECOND}."]), "pass")
    bad = (first, ["", "45.", f"{SECOND}."])
    check("RESUME-1", "killed", sessions, bad, "fails silently", "missing")


# A caught exception: sample 2 fails, hence the batch 2 3 in the first epoch and 2 0 in the second.

FAILING = dataclasses.replace(SIX, fail_at=2)
RAISED = "!next WorkloadError sample 2 fails on purpose"
GOOD = [f"01{RAISED}", "45.", f"53|41{RAISED}", "."]
LATER = ("drain?, take 1?, save s", "load s, drain?, drain?, drain?, drain?")
TAKEN = [f"01{RAISED}", "45", ""]


def caught(*texts: str) -> Trace:
    """Write the uninterrupted run that goes on after the exceptions of its sample."""
    plan = SessionPlan(Execution(), (Step("drain", tolerate=True),) * len(texts))
    return Trace("oracle", [played(plan, texts)])


def caught_case(outcome: str, kind: str = "", requirement: str = "FAULT-5", **more: Any) -> None:
    sessions, texts = more.pop("sessions", LATER), more.pop("texts", (TAKEN, ["", ".", *GOOD[2:]]))
    oracle = caught(*more.pop("oracle", GOOD))
    words = more.pop("words", "")
    check(requirement, "caught", sessions, texts, outcome, kind, words, workload=FAILING,
          oracle=oracle)  # fmt: skip


def test_the_uninterrupted_run_has_the_exception_too() -> None:
    of = case("caught", *LATER, workload=FAILING)
    assert oracle_case(of).workload.fail_at == 2
    assert oracle_case(of).sessions[0].steps == (Step("drain", tolerate=True),) * 4
    other = case("failing sample", *LATER, workload=FAILING)
    assert oracle_case(other).workload.fail_at is None


def test_the_batches_after_a_failed_one() -> None:
    caught_case("pass")
    caught_case("pass", requirement="FAULT-11")


@pytest.mark.parametrize(
    ("oracle", "outcome", "kind", "words"),
    [
        ([f"01{RAISED}", ".", f"53|41{RAISED}", "."], "fails silently", "missing", "are missing"),
        ([f"01{RAISED}", f"01{RAISED}", RAISED, RAISED], "fails", "error", "again and again"),
        ([f"01{RAISED}", "!next RuntimeError dead", "", ""], "fails", "late error", "and then"),
        ([f"01{RAISED}", "!hang next"], "fails", "hang", "and then"),
        (["01|45.", "53|41.", "", ""], "blocked", "", "no error comes"),
        (["01!hang next"], "blocked", "", "and then"),
    ],
)
def test_an_iterator_that_does_not_go_on(
    oracle: list[str], outcome: str, kind: str, words: str
) -> None:
    caught_case(outcome, kind, oracle=oracle, words=words)
    # Nobody can tell what such an iterator's states are worth.
    caught_case("blocked", "", "FAULT-11", oracle=oracle, words=words)


def test_epochs_of_one_failed_batch_have_nothing_to_get_to() -> None:
    raised = "!next WorkloadError sample 1 fails on purpose"
    every = [raised, ".", raised, "."]
    sessions = ("drain?, save s", "load s, drain?, drain?, drain?, drain?")
    texts = ([raised, ""], ["", ".", raised, ".", raised])
    workload = dataclasses.replace(SIX, n=2, batch_size=2, fail_at=1)
    for requirement in ("FAULT-5", "FAULT-11"):
        check(requirement, "caught", sessions, texts, "pass", workload=workload,
              oracle=caught(*every))  # fmt: skip


def test_an_adapters_own_generator_cannot_tell() -> None:
    of = case("caught", *LATER, workload=FAILING)
    oracle = caught(*GOOD)
    oracle.sessions[0].events[0].spent = True
    for requirement in ("FAULT-5", "FAULT-11"):
        finding = found(requirement, of, trace(of, TAKEN), oracle)
        assert finding is not None
        assert finding.outcome == "not offered"


BEFORE = ("take 1?, save s", LATER[1])
HEALED = (LATER[0], f"[fail_at=null] {LATER[1]}")
HEALED_BEFORE = (BEFORE[0], HEALED[1])
HEALED_STREAM = ("drain?, save s", HEALED[1])
STREAMED = [f"01{RAISED}", ""]


@pytest.mark.parametrize(
    ("sessions", "texts", "outcome", "kind"),
    [
        # Whether the failed batch is tried again is the loader's own matter.
        (BEFORE, (["01", ""], ["", RAISED, "45.", *GOOD[2:]]), "pass", ""),
        (BEFORE, (["01", ""], ["", "45.", *GOOD[2:]]), "pass", ""),
        (BEFORE, (["01", ""], ["", "."]), "fails silently", "missing"),
        (BEFORE, (["01", ""], ["", *([RAISED] * 4)]), "fails", "late error"),
        (BEFORE, (["01", ""], ["", f"45{RAISED}", *([RAISED] * 3)]), "fails", "late error"),
        (LATER, (TAKEN, ["", "45."]), "fails silently", "different"),
        (LATER, (TAKEN, ["!load ValueError an error came before"]), "refused", ""),
        # How much of the failed batch was read may be unknown, if its sample can be read now.
        (HEALED, (TAKEN, ["!load ValueError the error does not come again"]), "pass", ""),
        (HEALED, (TAKEN, ["", "45."]), "fails silently", "different"),
        # Or the failed batch is tried again, and fails no more.
        (HEALED_BEFORE, (["01", ""], ["", "23|45.", *GOOD[2:]]), "pass", ""),
        (HEALED_STREAM, (STREAMED, ["", "23|45.", *GOOD[2:]]), "pass", ""),
        (HEALED_STREAM, (STREAMED, ["", "34|5.", *GOOD[2:]]), "fails silently", "different"),
        (LATER, ([f"01{RAISED}", "45", "!state ValueError no"], []), "fails", "save"),
        (LATER, ([f"10{RAISED}", "45", ""], ["", "."]), "blocked", ""),
        (LATER, ([f"01{RAISED}", "45", ""], ["", "!hang next"]), "fails", "hang"),
    ],
)
def test_a_state_taken_around_an_exception(
    sessions: tuple[str, ...], texts: tuple[list[str], ...], outcome: str, kind: str
) -> None:
    caught_case(outcome, kind, "FAULT-11", sessions=sessions, texts=texts)
    caught_case("pass", sessions=sessions, texts=texts)


# A dead worker.

DEATH = ("drain?, save s", "load s, drain, drain")
DIED = ["01!next RuntimeError worker 0 died", ""]


@pytest.mark.parametrize(
    ("first", "second", "outcome", "kind"),
    [
        (DIED, ["", "23|45.", f"{SECOND}."], "pass", ""),
        (DIED, ["", "45.", f"{SECOND}."], "fails silently", "missing"),
        (DIED, ["", f"{FIRST}.", f"{SECOND}."], "fails silently", "repeated"),
        (DIED, ["!load ValueError a worker had died"], "pass", ""),
        (DIED, ["!load KeyError 'workers'"], "fails", "bare error"),
        ([DIED[0], "!state RuntimeError the loader is dead"], [], "pass", ""),
        ([DIED[0], "!state AttributeError no worker"], [], "fails", "save"),
        ([DIED[0], "!hang state"], [], "fails", "hang"),
        (["01|23|45.", ""], ["", f"{SECOND}."], "blocked", ""),
        (["01!hang next"], [], "blocked", ""),
        (["45!next RuntimeError worker 0 died", ""], ["", "23."], "blocked", ""),
    ],
)
def test_a_state_after_a_death(
    first: list[str], second: list[str], outcome: str, kind: str
) -> None:
    workload = dataclasses.replace(SIX, die_at=4)
    texts = (first, second) if second else (first,)
    check("FAULT-6", "after a death", DEATH, texts, outcome, kind, workload=workload)


# What is held.


HELD = ", open, ".join(["take 1, close, count"] * 5)
ROUNDS = [["01", "", ""], *[["", "01", "", ""]] * 4]


@pytest.mark.parametrize(
    ("counts", "outcome", "kind"),
    [
        ([(0, 0, 0)] * 5, "pass", ""),
        ([(0, 4, 9)] * 5, "pass", ""),
        # A pool or a cache that fills is no leak, nor is what comes and goes.
        ([(0, 1, 2), *[(0, 8, 5)] * 4], "pass", ""),
        ([(0, 1, 2), (0, 8, 5), *[(0, 9, 6)] * 3], "pass", ""),
        ([(0, 2, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0)], "pass", ""),
        ([(0, 0, 2 * i) for i in range(5)], "fails", "leftover"),
        ([(i, 0, 0) for i in range(5)], "fails", "leftover"),
        ([(0, 1, 0), None, (0, 3, 0), (0, 4, 0), (0, 5, 0)], "not offered", ""),
    ],
)
def test_what_is_held(counts: list[tuple[int, int, int] | None], outcome: str, kind: str) -> None:
    finding = holding(counts)
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words


def test_few_rounds_do_not_tell_a_leak_from_a_pool() -> None:
    assert holding([(0, 0, i) for i in range(3)]) is None
    finding = holding([(0, 0, i) for i in range(4)])
    assert finding is not None
    assert finding.outcome == "fails"


def holding(counts: list[tuple[int, int, int] | None]) -> Finding | None:
    """Return what is found of a loader that holds so much after each round."""
    of = case("held", ", open, ".join(["take 1, close, count"] * len(counts)))
    t = trace(of, list(itertools.chain(*ROUNDS[: len(counts)])))
    events = [event for event in t.sessions[0].events if event.do == "count"]
    for event, numbers in zip(events, counts, strict=True):
        names = ("processes", "threads", "descriptors")
        event.held = None if numbers is None else dict(zip(names, numbers, strict=True))
    return found("FAULT-7", of, t)


def test_rounds_that_go_wrong_tell_nothing_of_what_is_held() -> None:
    of = case("held", HELD)
    finding = found("FAULT-7", of, trace(of, ["23", *list(itertools.chain(*ROUNDS))[1:]]))
    assert finding is not None
    assert finding.outcome == "blocked"


# What is fetched.


@pytest.mark.parametrize(
    ("fetched", "outcome"),
    [
        ([3] * 8, "pass"),
        ([9, 3, 3, 3, 3, 3, 3, 3], "pass"),  # an epoch ahead, and a look at all before the first
        ([4, 4, 4, 4, 4, 4, 4, 3], "fails"),
        ([6] * 8, "fails"),
    ],
)
def test_samples_that_are_fetched_twice(fetched: list[int], outcome: str) -> None:
    workload = Workload(n=3, batch_size=3, epochs=8, log="auto")
    of = case("fetched once", ", ".join(["drain"] * 8), workload=workload)
    oracle = whole(*["012"] * 8)
    events: list[Event] = trace(of, ["012."] * 8).sessions[0].events
    for event, count in zip(events, fetched, strict=True):
        event.fetched = count
    finding = found("COST-5", of, run(of, events), oracle)
    assert finding is not None
    assert finding.outcome == outcome, finding.words


@pytest.mark.parametrize(("fetched", "outcome"), [(2 + 4 + 2 * 6, "pass"), (19, "fails")])
def test_a_resume_may_fetch_what_its_epoch_had_delivered(fetched: int, outcome: str) -> None:
    workload = dataclasses.replace(SIX, log="auto")
    of = case("fetched once", "take 2, save s", "load s, drain", workload=workload)
    t = trace(of, ["01|23", ""], ["", "45."])
    t.sessions[1].events[1].fetched = fetched
    finding = found("COST-5", of, t)
    assert finding is not None
    assert finding.outcome == outcome, finding.words


def test_fetches_without_a_log_say_nothing() -> None:
    of = case("fetched once", "drain", workload=dataclasses.replace(SIX, epochs=1))
    assert found("COST-5", of, trace(of, [f"{FIRST}."])) is None
    wrong = found("COST-5", of, trace(of, [f"{SECOND}."]), ORACLE)
    assert wrong is not None
    assert wrong.outcome == "blocked"


# The caller's streams.


def test_streams_that_move_while_batches_are_delivered() -> None:
    of = case("caller streams", "take 1, save s, drain", "load s, drain")
    for moved in (False, True):
        t = trace(of, ["01", "", "23|45."], ["", "23|45."])
        for session in t.sessions:
            for event in session.events:
                event.drew = False if event.do in ("take", "drain") else None
        t.sessions[1].events[1].drew = moved
        finding = found("SEED-6", of, t)
        assert finding is not None
        assert finding.outcome == ("fails silently" if moved else "pass")
        assert not moved or "after a resume" in finding.words


# An interrupt while the batch 2 3 is made.

CUT_SHORT = "!next KeyboardInterrupt "
GOES_ON = ("take 0, drain?, drain?, drain",)
SAVED = ("drain?, save s", "load s, drain, drain")


@pytest.mark.parametrize(
    ("texts", "outcome", "kind"),
    [
        (["", f"01{CUT_SHORT}", "23|45.", f"{SECOND}."], "pass", ""),
        (["", f"01{CUT_SHORT}", "45.", f"{SECOND}."], "fails silently", "missing"),
        (["", f"01{CUT_SHORT}", ".", f"{SECOND}."], "fails silently", "missing"),
        (["", f"01{CUT_SHORT}", "01|23|45.", f"{SECOND}."], "fails silently", "repeated"),
        (["", f"01{CUT_SHORT}", "!next RuntimeError it was interrupted"], "refused", ""),
        (["", f"01{CUT_SHORT}", "!next KeyError 1"], "fails", "late error"),
    ],
)
def test_an_interrupt(texts: list[str], outcome: str, kind: str) -> None:
    check("FAULT-12", "interrupted", GOES_ON, (texts,), outcome, kind)
    check("FAULT-9", "interrupted", GOES_ON, (texts,), "pass")


def test_a_state_taken_after_an_interrupt() -> None:
    first = [f"01{CUT_SHORT}", ""]
    good, bad = ["", "23|45.", f"{SECOND}."], ["", "45.", f"{SECOND}."]
    check("FAULT-12", "interrupted", SAVED, (first, good), "pass")
    check("FAULT-12", "interrupted", SAVED, (first, bad), "fails silently", "missing")
    unsaved = ([f"01{CUT_SHORT}", "!state RuntimeError no"],)
    check("FAULT-12", "interrupted", SAVED, unsaved, "fails", "save")


LEFT = ("take 0, drain?, break, drain",)


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [
        (["", f"01{CUT_SHORT}", "", f"{SECOND}."], "pass"),
        (["", f"01{CUT_SHORT}", "", f"{FIRST}."], "pass"),
        (["", f"01{CUT_SHORT}", "", "23|45."], "fails silently"),
        (["", CUT_SHORT, "", f"{FIRST}."], "pass"),
        (["", f"01{CUT_SHORT}", "", "!next RuntimeError it was interrupted"], "refused"),
        (["", f"01{CUT_SHORT}", "", "!next KeyError 1"], "fails"),
    ],
)
def test_an_epoch_that_is_left_after_an_interrupt(texts: list[str], outcome: str) -> None:
    of = case("interrupted", *LEFT)
    finding = found("EPOCH-5", of, trace(of, texts))
    assert finding is not None
    assert finding.outcome == outcome
    for other in ("FAULT-12", "RESUME-7"):
        assert found(other, of, trace(of, texts)) is None


def test_an_epoch_that_goes_on_after_an_interrupt_is_not_left() -> None:
    of = case("interrupted", *GOES_ON)
    t = trace(of, ["", f"01{CUT_SHORT}", "23|45.", f"{SECOND}."])
    assert found("EPOCH-5", of, t) is None
    assert found("RESUME-7", of, t) is None


@pytest.mark.parametrize(
    ("resumed", "outcome"),
    [(f"{SECOND}.", "pass"), (f"{FIRST}.", "fails silently"), ("!next ValueError no", "refused")],
)
def test_a_resume_goes_on_as_the_loader_that_was_interrupted(resumed: str, outcome: str) -> None:
    of = case("interrupted", "take 0, drain?, break, save s, drain", "load s, drain")
    t = trace(of, ["", CUT_SHORT, "", "", f"{SECOND}."], ["", resumed])
    finding = found("RESUME-7", of, t)
    assert finding is not None
    assert finding.outcome == outcome


def test_a_resume_after_an_interrupt_that_was_not_played() -> None:
    of = case("interrupted", "take 0, drain?, break, save s, drain", "load s, drain")
    finding = found("RESUME-7", of, trace(of, ["", CUT_SHORT, "", "", f"{SECOND}."]))
    assert finding is not None
    assert finding.outcome == "blocked"


def test_the_format_begins_an_epoch_that_an_interrupt_kept_from_its_first_batch() -> None:
    of = case("interrupted", "take 0, drain?, break, save s, drain")
    for order, outcome in ((FIRST, "pass"), (SECOND, "fails silently")):
        t = trace(of, ["", CUT_SHORT, "", "", f"{order}."])
        t.sessions[0].events[3].document = {"format": "midepoch"}
        finding = found("RESUME-7", of, t)
        assert finding is not None
        assert finding.outcome == outcome


def test_an_interrupt_that_nobody_sees() -> None:
    of = case("interrupted", *GOES_ON)
    t = trace(of, ["", f"{FIRST}.", f"{SECOND}.", "."])
    assert found("FAULT-9", of, t) is None  # it came between two batches
    assert found("FAULT-12", of, t) is None
    t.sessions[0].events[1].calls = {"raised": 1}
    finding = found("FAULT-9", of, t)
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails silently", "swallowed")
    crashed = trace(of, ["", "01!crash next"])
    crashed.sessions[0].events[1].calls = {"raised": 1}
    finding = found("FAULT-9", of, crashed)
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails", "crash")


# A sample that was delivered raises while the resume makes its batch again.

AGAIN = ("take 1, save s", "[fail_at=0] load s, drain?, save t", "load t, drain, drain")
RAISES = "!next WorkloadError sample 0 fails on purpose"
REST = ["", "23|45.", f"{SECOND}."]


@pytest.mark.parametrize(
    ("resume", "later", "outcome", "kind"),
    [
        (["", RAISES, ""], REST, "pass", ""),
        (["!load WorkloadError sample 0 fails on purpose"], [], "pass", ""),
        (["", "23|45.", ""], ["", f"{SECOND}.", "."], "pass", ""),
        (["", RAISES, "!save WorkloadError sample 0 fails on purpose"], [], "pass", ""),
        (["", "34|5.", ""], REST, "fails silently", "different"),
        (["", "45.", ""], REST, "fails silently", "missing"),
        (["", RAISES, ""], ["", "45.", f"{SECOND}."], "fails silently", "missing"),
        (["", RAISES, ""], ["", "01|23|45.", f"{SECOND}."], "fails silently", "repeated"),
        (["", "!next ValueError the stream cannot be replayed"], [], "refused", ""),
    ],
)
def test_an_error_of_the_resume_alone(
    resume: list[str], later: list[str], outcome: str, kind: str
) -> None:
    texts = tuple(filter(None, (["01", ""], resume, later)))
    check("FAULT-13", "failed replay", AGAIN, texts, outcome, kind)
    check("FAULT-10", "failed replay", AGAIN, texts, "pass")


@pytest.mark.parametrize(
    ("resume", "fetched", "workers", "outcome", "kind"),
    [
        ("23|45.", 6, 0, "fails silently", "swallowed"),
        ("23|45!next ValueError no replay", 6, 0, "refused", ""),
        ("!hang next", 6, 0, "fails", "hang"),
        (RAISES, 6, 0, "pass", ""),
        # The sample may be the next epoch's, which the loader reads ahead of time.
        ("23|45.", 7, 0, None, ""),
        ("23|45.", 6, 2, None, ""),
    ],
)
def test_an_error_of_the_resume_that_nobody_sees(
    resume: str, fetched: int, workers: int, outcome: str | None, kind: str
) -> None:
    of = case("failed replay", f"{AGAIN[0]}, drain", *AGAIN[1:], workers=workers)
    t = trace(of, ["01", "", "23|45."], ["", resume, ""])
    t.sessions[0].events[2].fetched = fetched
    t.sessions[1].events[1].calls = {"fail": 1}
    finding = found("FAULT-10", of, t)
    assert (finding.outcome if finding else None) == outcome
    assert (finding.kind if finding else "") == kind


HEALS = ("take 1, save s", "[fail_at=0 fail_once=true] load s, drain?, drain, drain")


@pytest.mark.parametrize(
    ("resume", "outcome", "kind"),
    [
        (["", RAISES, "23|45.", f"{SECOND}."], "pass", ""),
        # The iterator that raised ends: the rest of its epoch is lost.
        (["", RAISES, ".", f"{SECOND}."], "fails silently", "missing"),
        (["", RAISES, ".", "23|45."], "fails silently", "missing"),
        (["", ".", "23|45.", f"{SECOND}."], "pass", ""),  # an empty epoch after the load
    ],
)
def test_an_iterator_that_raised_in_a_replay_goes_on(
    resume: list[str], outcome: str, kind: str
) -> None:
    check("FAULT-13", "failed replay", HEALS, (["01", ""], resume), outcome, kind)


@pytest.mark.parametrize(("opened", "spent"), [(True, False), (False, True)])
def test_another_iterator_may_deliver_an_empty_epoch_after_an_error_of_the_resume(
    opened: bool, spent: bool
) -> None:
    """A generator of the adapter's is over after an error, which tells nothing of the loader."""
    of = case("failed replay", *HEALS)
    t = trace(of, ["01", ""], ["", RAISES, ".", "23|45."])
    t.sessions[1].events[1].spent, t.sessions[1].events[2].opened = spent, opened
    finding = found("FAULT-13", of, t)
    assert finding is not None
    assert finding.outcome == "pass", finding.words


@pytest.mark.parametrize(
    ("resume", "raised", "outcome"),
    [
        (["", "23|45.", RAISES], 1, "fails silently"),  # the next epoch's error is another one
        (["", "23|45.", RAISES], 2, "pass"),
        (["", ".", RAISES], 2, "pass"),  # the epoch after the load is empty
        (["", ".", "23|45.", RAISES], 2, "fails silently"),
    ],
)
def test_an_error_of_the_next_epoch_is_none_of_the_replays(
    resume: list[str], raised: int, outcome: str
) -> None:
    sessions = (f"{AGAIN[0]}, drain", "[fail_at=0] load s, drain?, drain?, drain?")
    of = case("failed replay", *sessions)
    t = trace(of, ["01", "", "23|45."], resume)
    t.sessions[0].events[2].fetched = 6
    t.sessions[1].events[raised].calls = {"fail": 1}
    finding = found("FAULT-10", of, t)
    assert finding is not None
    assert finding.outcome == outcome, finding.words
