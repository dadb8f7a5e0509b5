"""Basis: it runs, agrees with itself, delivers each sample once, and saving changes nothing."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import CAUGHT, HISTORY
from midepoch_conformance.case.trace import WRITTEN, Batch, Trace
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import UNINTERRUPTED, Evidence, Piece
from midepoch_conformance.verdict.finding import (
    Finding,
    fault_kind,
    in_words,
    is_refusal,
    is_slip,
)

__all__ = ["allowed_missing"]


@judge("BASIS-1", "plain", "work plain", alone=True)
def runs(view: View) -> Finding | None:
    """Every epoch is delivered, to its end."""
    for trace in (view.oracle, view.trace):
        finding = _ran(view, trace) if trace is not None else None
        if finding is not None:
            return finding
    return view.passed()


def broken_run(view: View) -> Finding | None:
    """Return how the uninterrupted run of any case fails; None if it does not, or refuses."""
    run = view.oracle
    fault = run.sessions[0].first_fault() if run and run.sessions else None
    if run is None or fault is None or fault.kind == "adapter":
        return None
    if view.case.workload.fail_at is not None and view.case.probe in (*CAUGHT, HISTORY):
        return None  # it fails on purpose, and goes on
    found = _ran(view, run)
    if found is None or found.outcome != "fails":
        return None
    evidence = Evidence("error", UNINTERRUPTED, wanted="no error")
    return dataclasses.replace(found, evidence=evidence)


@judge("BASIS-2", "plain", "work plain", "uneven plain")
def agrees(view: View) -> Finding | None:
    """A second run in another interpreter delivers the same."""
    problem = view.problem(0)
    if problem is not None and problem.fault is not None:
        refused = is_refusal(problem.fault, problem.delivered)
        if view.case.probe == "uneven plain" and not refused:
            return view.of_problem(problem)  # only this run has a slow worker
        return view.blocked(f"the second run fails: {problem.words}")
    return view.all(0)


@judge("BASIS-3", "whole", "work whole", "divided", "shuffled stream")
def whole(view: View) -> Finding | None:
    """Each epoch holds each sample once."""
    problem = view.problem(0)
    if problem is not None and problem.fault is not None:
        return view.blocked(f"the run fails: {problem.words}")
    session = view.session(0)
    w, x = view.case.workload, view.case.sessions[0].execution
    for number, epoch in enumerate(expected.epochs_of(session) if session else []):
        n = w.length(number)
        missing, droppable = allowed_missing(w, x, number), _droppable(w, x, n)
        came = compare.ids(epoch)
        if came != sorted(came, key=lambda i: (isinstance(i, str), i)):
            droppable = None  # the loader's own order may end with any samples
        fault = compare.unwhole(epoch, n, missing, droppable)
        if fault is not None:
            words = f"epoch {number}: {fault.words}"
            last = () if droppable is None else tuple(droppable)
            evidence = Evidence(
                "samples", pieces=(Piece(0, 0, number),), wanted=(n,), slack=missing, droppable=last
            )
            return view.silent(
                fault.kind, words, f"samples 0 to {n - 1}, each once", epoch, evidence
            )
    return view.passed()


@judge("BASIS-4", "saving", "work saving")
def saving_changes_nothing(view: View) -> Finding | None:
    """Deliveries with saves among them equal those without, in each session."""
    sessions = range(len(view.case.sessions))
    if any(e.fault is not None for index in sessions for e in view.events(index, "save")):
        return view.blocked("the state could not be taken")
    each = (view.all(0) if index == 0 else _saved_again(view, index) for index in sessions)
    return next((found for found in each if found.outcome != "pass"), view.passed())


def _saved_again(view: View, index: int) -> Finding:
    """Judge the saves of a session that loads a state; a wrong resume is not theirs."""
    problem = view.problem(index)
    if problem is None:
        return view.all(index)
    save = next((e.step for e in view.events(index, "save")), None)
    refused = problem.fault is not None and is_refusal(problem.fault, problem.delivered)
    if save is None or problem.step < save or refused:
        return view.blocked(f"wrong already without a save: {problem.words}")
    return view.all(index)


@judge("BASIS-5", "saving", "work saving")
def saving_draws_nothing(view: View) -> Finding | None:
    """No save moves a global random stream."""
    seen = [
        (index, event)
        for index in range(len(view.case.sessions))
        for event in view.events(index, "save")
        if event.drew is not None
    ]
    number = next((number for number, (_, event) in enumerate(seen, 1) if event.drew), None)
    if number is not None:
        index, event = seen[number - 1]
        words = f"save number {number} moves a global random stream"
        evidence = Evidence("drew", index, event.step, event.step)
        return view.silent("values", words, "no global stream moves", "one moved", evidence)
    return view.passed() if seen else None


@judge("BASIS-6", "plain", "work plain", "uneven plain", "execution", "written over")
def keeps_what_is_held(view: View) -> Finding | None:
    """Delivered batches stay as they are."""
    return _changed(view, by_a_write=False) or view.passed()


@judge("BASIS-7", "written over")
def keeps_writes_apart(view: View) -> Finding | None:
    """Writing into a delivered batch changes no other batch and no state."""
    changed = _changed(view, by_a_write=True)
    if changed is not None:
        return changed
    for number in range(len(view.trace.sessions)):
        for event in view.events(number):
            for batch in event.batches:
                if _is_written(batch):
                    words = "a later batch holds numbers that were written into earlier ones"
                    evidence = Evidence("written", number, last=event.step)
                    return view.silent("values", words, f"no {WRITTEN} in it", batch, evidence)
    each = (view.all(number) for number in range(len(view.case.sessions)))
    return next((found for found in each if found.outcome != "pass"), view.passed())


def _changed(view: View, *, by_a_write: bool) -> Finding | None:
    """Return the failure that a batch which is held has changed: by a write elsewhere, or not."""
    for number, session in enumerate(view.trace.sessions):
        for when, batch, before, now in session.changed:
            if (_is_written(now) and not _is_written(before)) is by_a_write:
                where = f" in session {number}" if len(view.case.sessions) > 1 else ""
                words = f"batch {batch} of those delivered{where} is another {when}"
                return view.silent("values", words, before, now, Evidence("changed", number))
    return None


def _is_written(batch: Batch) -> bool:
    """Return whether a batch holds the number that the suite writes into batches."""
    return any(WRITTEN in row for row in batch)


def allowed_missing(w: Workload, x: Execution, epoch: int = 0) -> int:
    """Return how many samples an epoch may lack: the incomplete batch, of each lane for iterables.

    ``epoch``: its number, which matters if the dataset grows.

    Example:
        >>> allowed_missing(Workload(n=13, batch_size=4, tail="drop"), Execution(workers=3))
        1
        >>> w = Workload(kind="iterable", n=14, batch_size=4, tail="drop")
        >>> allowed_missing(w, Execution(workers=2, lanes=2))
        6
    """
    if w.tail != "drop":
        return 0
    if w.kind in ("map", "stateful_map"):
        return w.length(epoch) % w.batch_size
    lanes = max(1, x.workers if x.lanes is None else x.lanes)
    return sum(len(w.share(lane, lanes)) % w.batch_size for lane in range(lanes))


def _droppable(w: Workload, x: Execution, n: int) -> range | None:
    """Return the samples of an epoch's incomplete batch, or None if that depends on the loader.

    Only an order that ascends ends with the last samples. Workers may divide it otherwise.

    Example:
        >>> _droppable(Workload(n=13, batch_size=4, tail="drop"), Execution(), 13)
        range(12, 13)
    """
    natural = not (w.shuffle or w.sampler) and w.stream == "plain"
    if w.tail != "drop" or not natural or max(x.workers, x.lanes or 0) > 1:
        return None
    return range(n - n % w.batch_size, n)


def _ran(view: View, trace: Trace) -> Finding | None:
    session = trace.sessions[0] if trace.sessions else None
    fault = session.first_fault() if session else None
    if fault is not None:
        delivered = sum(len(e.batches) for e in session.events) if session else 0
        words = in_words(fault, delivered)
        # A loader that refuses to be built for a cell breaks no promise.
        if is_refusal(fault, delivered) and not is_slip(fault):
            return view.not_offered(words)
        evidence = Evidence("error", wanted="no error")
        return view.fails(fault_kind(fault, delivered), words, evidence=evidence)
    return _short(view, expected.epochs_of(session) if session else [])


def _short(view: View, epochs: expected.Epochs) -> Finding | None:
    """Return the failure that fewer epochs hold batches than must hold some."""
    w, x = view.case.workload, view.case.sessions[0].execution
    owed = sum(_has_a_batch(w, x, number) for number in range(w.epochs))
    count = sum(map(bool, epochs))
    if count >= owed:
        return None
    words = f"{count} of {owed} epochs are delivered"
    return view.silent("missing", words, owed, count, Evidence("epochs"))


def _has_a_batch(w: Workload, x: Execution, epoch: int) -> bool:
    """Return whether an epoch holds a batch, whatever it drops or carries over.

    Example:
        >>> w = Workload(n=5, batch_size=4, tail="drop", grow=-2)
        >>> [_has_a_batch(w, Execution(), epoch) for epoch in (0, 1)]
        [True, False]
    """
    # A batch that fills up alone needs no samples of the epochs before.
    w = dataclasses.replace(w, tail="drop") if w.tail == "rollover" else w
    return usual_length(w, x, epoch) > 0
