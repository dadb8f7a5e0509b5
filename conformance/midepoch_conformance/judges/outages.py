"""Outages: the data and the process after a caught exception, a dead worker or a leak."""

from __future__ import annotations

import dataclasses
import itertools

from midepoch_conformance.case.trace import Event, Fault, SessionTrace
from midepoch_conformance.case.words import culprit
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import Problem, View
from midepoch_conformance.verdict.compare import difference, unwhole
from midepoch_conformance.verdict.evidence import UNINTERRUPTED, Evidence, Piece
from midepoch_conformance.verdict.finding import Finding, fault_kind, in_words, is_refusal

__all__ = ["INTERRUPTED", "carried", "caught", "is_interrupt", "left_after", "stopped_at"]

_ON_PURPOSE = "on purpose"

INTERRUPTED = ("interrupted", "work interrupted")
"""The cases of an interrupt."""

_COUNTS = 4
"""The counts that tell a leak: a loader's holdings may grow twice, and not a third time."""


def carried(fault: Fault) -> bool:
    """Return whether a fault is, or carries, the exception that a sample raised on purpose."""
    names = (fault.type, *fault.bases)
    return (
        "WorkloadError" in names or _ON_PURPOSE in fault.message or _ON_PURPOSE in fault.traceback
    )


@judge("FAULT-5", "caught", "caught in collate", alone=True)
def goes_on(view: View) -> Finding | None:
    """The batches after a failed one are delivered."""
    return _uninterrupted(view) or view.passed()


@judge("FAULT-11", "caught", "caught again", "caught in collate", alone=True)
def goes_on_later(view: View) -> Finding | None:
    """A state from after a failed batch resumes with the batches that were not delivered."""
    wrong = _uninterrupted(view)
    if wrong is not None:
        return wrong if wrong.outcome == "not offered" else view.blocked(wrong.words)
    last = len(view.case.sessions) - 1
    for session in range(1, last + 1):
        wrong = _unsaved(view, session, tolerated=caught(view, session - 1))
        if wrong is not None:
            return wrong
        # Whether a resume tries the failed batch again is the loader's own matter.
        problem = view.problem(session, tolerated=caught(view, session))
        if problem is None and session == last:
            problem = _stuck(view, session)
        if problem is not None and problem.epoch == 0:
            found = _resumed(view, problem, session)
            if not _healed(view, session):
                return found
            if found.outcome == "refused":
                return view.passed(f"the sample can be read now: {found.words}")
            if _retried(view, session):
                return view.passed("the failed batch is tried again")
            return found
    return view.passed()


def _healed(view: View, session: int) -> bool:
    """Return whether the sample that raised raises in a resume no more."""
    before, now = view.case.session_workload(session - 1), view.case.session_workload(session)
    return before.fail_at is not None and now.fail_at is None


def _retried(view: View, session: int) -> bool:
    """Return whether a resume and the session before it deliver each sample once.

    A stream's batches then begin at the failed one, where the uninterrupted run's begin after it.
    """
    rest = next(iter(view.resumed(session)), None)
    events = itertools.takewhile(lambda event: event.do != "save", view.events(session - 1))
    before = [batch for event in events for batch in event.batches]
    if rest is None or not rest.ended:
        return False
    return unwhole([*before, *rest.got], view.case.workload.n) is None


@judge("FAULT-9", *INTERRUPTED)
def reaches_the_caller(view: View) -> Finding | None:
    """Ctrl-C while a batch is made reaches the caller."""
    if stopped_at(view):
        return view.passed()
    raised = [e for e in view.events(0) if e.calls and e.calls.get("raised")]
    fault = next((e.fault for e in raised if e.fault is not None), None)
    if fault is not None:
        words = f"an interrupt while a batch is made: {in_words(fault)}"
        evidence = Evidence("error", last=raised[0].step, wanted="an interrupt")
        return view.fails(fault_kind(fault, 0), words, evidence=evidence)
    if raised:
        words = "an interrupt while a batch is made does not reach the caller"
        evidence = Evidence("error", last=raised[0].step, wanted="an interrupt")
        return view.silent("swallowed", words, "KeyboardInterrupt", None, evidence)
    return None  # it came while no batch was asked for


@judge("FAULT-12", *INTERRUPTED)
def nothing_lost(view: View) -> Finding | None:
    """After Ctrl-C while a batch is made, nothing is lost or repeated, now and after a resume."""
    stopped = stopped_at(view)
    if not stopped:
        return None  # FAULT-9's matter, or it came while no batch was asked for
    if view.events(0, "break"):
        # Neither the same iterator nor a state of then goes on: EPOCH-5 and RESUME-7 judge it.
        return None
    if any(event.spent for event in view.events(0)):
        return view.not_offered("an interrupt ends the iterator that the adapter makes")
    problem = view.problem(0, stopped)
    if problem is not None and problem.fault is not None and is_refusal(problem.fault, 0):
        return Finding(view.requirement, "refused", "", f"then: {problem.words}")
    if problem is not None:
        found = view.of_problem(problem)
        return dataclasses.replace(found, words=f"after an interrupt: {found.words}")
    if len(view.case.sessions) == 1:
        return view.passed()
    if view.session(1) is None:
        return view.blocked("the play did not get to the resume")
    found = _resumed(view, view.problem(1))
    return dataclasses.replace(found, words=f"saved after an interrupt: {found.words}")


def stopped_at(view: View) -> tuple[int, ...]:
    """Return the steps at which the interrupt reached the caller."""
    events = view.events(0)
    return tuple(e.step for e in events if e.fault is not None and is_interrupt(e.fault))


def left_after(view: View) -> int | None:
    """Return the step at which the caller leaves an interrupted epoch; None if it leaves none."""
    left, stopped = next(iter(view.events(0, "break")), None), stopped_at(view)
    return left.step if left is not None and stopped and stopped[0] < left.step else None


def is_interrupt(fault: Fault) -> bool:
    """Return whether a fault is, or carries, the interrupt."""
    return (
        "KeyboardInterrupt" in (*fault.bases, fault.type) or "KeyboardInterrupt" in fault.traceback
    )


@judge("FAULT-10", "failed replay")
def replays_show_errors(view: View) -> Finding | None:
    """An error that only a resume meets reaches the caller."""
    if not _was_delivered(view):
        return None
    early = view.before(1)
    if early is not None:
        return early
    resumed = _of_the_resumed_epoch(view.events(1))
    raised = [e for e in resumed if e.calls and e.calls.get("fail")]
    if not raised or any(e.fault is not None and carried(e.fault) for e in resumed):
        return view.passed()
    if not _reads_one_epoch(view):
        return None  # the sample may be the next epoch's
    fault = next((e.fault for e in resumed if e.fault is not None), None)
    evidence = Evidence("error", 1, wanted="its error")
    words = "a sample that was delivered raises in the resume"
    if fault is not None:
        found = view.of_fault(fault, 0, 1, evidence)
        return dataclasses.replace(found, words=f"{words}: {found.words}")
    words = f"{words}, and no error reaches the caller"
    return view.silent("swallowed", words, "its error", None, evidence)


def _of_the_resumed_epoch(events: list[Event]) -> list[Event]:
    """Return a resume's events up to its first epoch's end; an error after it is of no replay.

    An empty epoch right after a load comes before the resumed one.
    """
    delivered = False
    for count, event in enumerate(events, 1):
        delivered = delivered or bool(event.batches)
        if event.ended and delivered:
            return events[:count]
    return events


def _was_delivered(view: View) -> bool:
    """Return whether the sample that fails in the resume was delivered before: its batch is made
    again, if it is made at all. A loader's batches may be of other sizes than asked for."""
    failing = view.case.session_workload(1).fail_at
    before = itertools.takewhile(lambda event: event.do != "save", view.events(0))
    rows = (row for event in before for batch in event.batches for row in batch)
    return failing in {row[0] for row in rows}


def _reads_one_epoch(view: View) -> bool:
    """Return whether the loader, as the first session shows, fetches no epoch ahead of time."""
    inline = not view.case.sessions[1].execution.workers
    fetched = sum(event.fetched or 0 for event in view.events(0))
    return inline and fetched == view.case.workload.n


@judge("FAULT-13", "failed replay")
def failed_replays_cost_nothing(view: View) -> Finding | None:
    """An error that only a resume meets costs no batch, now and after another resume."""
    if not _was_delivered(view):
        return None
    early = view.before(1)
    if early is not None:
        return early
    raised = caught(view, 1)
    problem = view.problem(1, tolerated=raised)
    if problem is not None and problem.epoch == 0:
        found = view.of_problem(problem)
        words = f"a sample that was delivered raises in the resume: {found.words}"
        return dataclasses.replace(found, words=words, needs=view.needs(1, problem))
    if not raised:
        return view.passed()  # nothing was made again, or nothing was asked of it
    if len(view.case.sessions) == 2:
        return view.passed()  # the loader itself went on, and later epochs are none of this
    if view.session(2) is None:
        if any(event.step in raised for event in view.events(1, "load", "save")):
            return view.passed("the sample raises while a state is loaded or taken")
        return view.blocked("the second resume was not played")
    found = _resumed(view, view.problem(2))
    return dataclasses.replace(found, words=f"saved after an error of the resume: {found.words}")


@judge("FAULT-6", "after a death")
def after_a_death(view: View) -> Finding | None:
    """A state taken after a worker died resumes with the undelivered batches, or is refused."""
    death = next((e for e in view.events(0) if e.do == "drain"), None)
    if death is None or death.fault is None:
        return view.blocked("no error tells of the worker's death")
    if death.fault.kind != "raised":
        return view.blocked(f"a worker's death is no error: {in_words(death.fault)}")
    saved = next((e for e in view.events(0, "save")), None)
    if saved is not None and saved.fault is not None:
        refusal = dataclasses.replace(saved.fault, at="load")
        if is_refusal(refusal, 0):
            return view.passed(f"no state is given: {in_words(saved.fault)}")
    wrong = _unsaved(view, 1, tolerated=(death.step,))
    return wrong if wrong is not None else _resumed(view, view.problem(1))


@judge("FAULT-7", "held")
def holds_no_more(view: View) -> Finding | None:
    """The loader's holdings do not grow from round to round, in the last session."""
    last = len(view.case.sessions) - 1
    problem = view.problem(last, tolerated=caught(view, last))
    if problem is not None:
        return view.blocked(f"the rounds go wrong themselves: {problem.words}")
    rounds = view.events(last, "count")
    counts = [event.held for event in rounds if event.held is not None]
    if len(counts) < len(rounds):
        return view.not_offered("what a process holds cannot be counted on this platform")
    if len(counts) < _COUNTS:
        return None  # what grows that often may still be a pool
    for name in counts[0]:
        numbers = [held[name] for held in counts]
        # A pool or a cache may grow once or twice, until it is filled; a leak grows every time.
        if all(before < after for before, after in itertools.pairwise(numbers)):
            words = f"{name} held after each of {len(numbers)} equal rounds: "
            words += ", ".join(map(str, numbers))
            return view.fails("leftover", words, numbers[0], numbers[-1], Evidence("held", last))
    return view.passed()


@judge("FAULT-8", "healed", "healed again", "healed persistent", "caught and healed", "lost twice")
def is_replaced(view: View) -> Finding | None:
    """With restarts, the batches and the states are those of a run without a death."""
    plans = list(enumerate(view.case.sessions))
    seen = [view.case.session_workload(i) for i, _ in plans]
    deadly = [i for i, w in enumerate(seen) if w.die_at is not None or w.exits_at]
    w = view.case.workload
    once = (w.die_once or w.exits_at) and w.log
    if not deadly or not (once and plans[deadly[0]][1].execution.restarts):
        return None
    at = deadly[0]
    session = view.session(at)
    if session is not None and session.fault is not None and is_refusal(session.fault, 0):
        return view.not_offered(in_words(session.fault))
    # The exception of a sample comes once.
    problem = view.problem(at, tolerated=caught(view, at)[:1])
    if problem is not None:
        found = view.of_problem(problem)
        return dataclasses.replace(found, words=f"a worker dies: {found.words}")
    ends = ("die", "exit")
    if not any(event.calls and event.calls.get(e) for event in view.events(at) for e in ends):
        return None  # what it fetched was not the sample that kills
    if at + 1 == len(plans):
        return view.passed()
    found = view.all(at + 1)
    return dataclasses.replace(found, words=f"saved after a worker's death: {found.words}")


def _uninterrupted(view: View) -> Finding | None:
    """Return how the uninterrupted run fails to continue after its fault."""
    run = view.oracle.sessions[0] if view.oracle else SessionTrace([])
    if run.fault is not None:
        return view.blocked(f"the loader cannot be built: {in_words(run.fault)}")
    w = view.case.workload
    if any(event.spent for event in run.events):
        words = (
            "epoch() of the adapter is a generator: an exception ends it, whatever the loader does"
        )
        return view.not_offered(words)
    faults = [(event, event.fault) for event in run.events if event.fault is not None]
    if not faults:
        return view.blocked(f"{culprit(w)} raises and no error comes")
    # An error at the epoch's end belongs to no sample.
    other = next(((e, f) for e, f in faults if not carried(f)), None)
    if other is not None:
        event, fault = other
        first = event is faults[0][0]
        words = f"{culprit(w)} raises, and then: {in_words(fault, len(event.batches))}"
        evidence = Evidence("error", UNINTERRUPTED, wanted="its error alone")
        return view.blocked(words) if first else view.fails(_kind(fault), words, evidence=evidence)
    whole = [e for e in run.events if e.ended]
    if len(whole) < w.epochs:
        words = f"the exception of {culprit(w)} comes again and again: nothing comes after it"
        evidence = Evidence("epochs", UNINTERRUPTED, wanted=w.epochs)
        return view.fails("error", words, evidence=evidence)
    slack = w.batch_size * (1 + len(w.fails_also))
    for number, epoch in enumerate(view.epochs[: w.epochs]):
        wrong = unwhole(epoch, w.n, slack)
        if wrong is not None:
            words = f"epoch {number}, after the exception of {culprit(w)}: {wrong.words}"
            pieces = (Piece(UNINTERRUPTED, 0, number),)
            evidence = Evidence("samples", pieces=pieces, wanted=(w.n,), slack=slack)
            return view.silent(
                wrong.kind, words, "the batches after the failed one", epoch, evidence
            )
    return None


def _unsaved(view: View, session: int, tolerated: tuple[int, ...]) -> Finding | None:
    """Return why a session has no state to resume from: saving it failed, or an earlier step."""
    before = session - 1
    problem = view.problem(before, tolerated)
    if problem is not None and view.saving(before, problem):
        return view.of_problem(problem)
    if problem is not None:
        return view.blocked(f"wrong already before the state was taken: {problem.words}")
    if view.session(session) is None:
        return view.blocked("the play did not get to the resume")
    return None


def _resumed(view: View, problem: Problem | None, session: int = 1) -> Finding:
    if problem is None or problem.epoch > 0:
        return view.passed()
    return dataclasses.replace(view.of_problem(problem), needs=view.needs(session, problem))


def caught(view: View, session: int) -> tuple[int, ...]:
    """Return the steps whose fault is the sample's own."""
    events: list[Event] = view.events(session)
    return tuple(e.step for e in events if e.fault is not None and carried(e.fault))


def _stuck(view: View, session: int) -> Problem | None:
    """Return the problem of a resume that never gets past the failed batch."""
    rest = next((s for s in view.resumed(session)), None)
    if rest is None or rest.ended or difference(rest, view.epochs) is not None:
        return None
    if not any(view.epochs):
        return None  # every epoch is one failed batch: no batch follows it
    fault = Fault("raised", "WorkloadError", message="the same exception at each step", at="next")
    evidence = Evidence("epochs", session, rest.step, wanted=1)
    delivered = max(1, len(rest.got))
    return Problem(0, rest.step, fault=fault, delivered=delivered, evidence=evidence)


def _kind(fault: Fault) -> str:
    return fault_kind(fault, 1)
