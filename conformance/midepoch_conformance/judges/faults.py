"""Faults: a fault becomes an error, not a hang, a shorter epoch or a leftover process."""

from __future__ import annotations

from midepoch_conformance.case.trace import Batch, Fault
from midepoch_conformance.case.words import culprit
from midepoch_conformance.judges.outages import carried
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import ids, show
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding, in_words

__all__: list[str] = []


_AN_ERROR = Evidence("error", wanted="an error")


@judge("FAULT-1", "killed worker", "killed again")
def killed_worker(view: View) -> Finding | None:
    """A worker that dies becomes an error."""
    fault, batches = _ending(view)
    if fault is None and _idle_ones_die(view) and view.problem(0) is None:
        return view.passed("every batch comes")  # it had been made, or the process was no worker
    if fault is None:
        words = f"a worker dies and the epoch ends without an error, after {show(batches)}"
        return view.silent("swallowed", words, "an error", batches, _AN_ERROR)
    if fault.kind in ("hang", "crash"):
        words = f"a worker dies: {in_words(fault)}"
        return view.fails(fault.kind, words, evidence=_AN_ERROR)
    return view.passed(in_words(fault, len(batches)))


def _idle_ones_die(view: View) -> bool:
    """Return whether workers die between two batches."""
    return any(step.do == "lose" for step in view.case.sessions[0].steps)


@judge("FAULT-2", "failing sample", "failing start", "failing collate")
def failing_sample(view: View) -> Finding | None:
    """A dataset's exception reaches the caller, after the good batches before it."""
    if view.case.probe == "failing start":
        return _failing_start(view)
    bad, raising = view.case.workload.fail_at, culprit(view.case.workload)
    epoch = view.epochs[0] if view.epochs else []
    place = next((i for i, batch in enumerate(epoch) if bad in ids([batch])), None)
    if place is None:
        return None
    fault, batches = _ending(view)
    good = epoch[:place]
    evidence = Evidence("error", wanted="its error", run=(0, 0, place))
    if fault is None:
        words = f"{raising} raises and the epoch ends without an error, after {show(batches)}"
        return view.silent("swallowed", words, good, batches, evidence)
    if fault.kind in ("hang", "crash"):
        words = f"{raising} raises: {in_words(fault)}"
        return view.fails(fault.kind, words, evidence=evidence)
    if batches != good:
        words = f"{show(good)} comes before the failing batch, got {show(batches)}"
        kind = "missing" if len(batches) < len(good) else "swallowed"
        return view.fails(kind, words, good, batches, evidence)
    # A StopIteration may come as another error.
    if not (carried(fault) or view.case.workload.ends):
        words = f"another error comes in its place: {in_words(fault, len(batches))}"
        return view.fails("error", words, evidence=evidence)
    return view.passed()


@judge("FAULT-3", "stop iteration")
def stop_iteration(view: View) -> Finding | None:
    """StopIteration of a sample is an error."""
    fault, batches = _ending(view)
    if fault is None:
        words = f"the epoch ends after {show(batches)} without an error"
        return view.silent("missing", words, "an error", batches, _AN_ERROR)
    if fault.kind in ("hang", "crash"):
        return view.fails(fault.kind, in_words(fault), evidence=_AN_ERROR)
    return view.passed(in_words(fault, len(batches)))


@judge("FAULT-4", "left behind")
def left_behind(view: View) -> Finding | None:
    """A closed loader leaves no process."""
    close = next((e for e in view.events(0, "close")), None)
    if close is None:
        return view.blocked("the play did not get to the close")
    if close.fault is not None:
        return view.fails(
            "close", in_words(close.fault), evidence=Evidence("error", wanted="no error")
        )
    if close.left is None:
        return None
    if close.left:
        words = f"{close.left} process{'es' if close.left > 1 else ''} left after the close"
        return view.fails("leftover", words, 0, close.left, Evidence("left", last=close.step))
    return view.passed()


def _failing_start(view: View) -> Finding | None:
    """Judge the last session, whose dataset cannot be set up: no batch is possible."""
    last = len(view.case.sessions) - 1
    if view.case.session_workload(last).fail_at != -1:
        return None
    early = view.before(last) if last else None
    if early is not None:
        return early
    session = view.session(last)
    fault = session.first_fault() if session else None
    batches = [batch for event in view.events(last) for batch in event.batches]
    if fault is None or batches:
        words = f"the dataset cannot be set up, and {show(batches)} comes"
        evidence = Evidence("error", last, wanted="its error")
        return view.silent("swallowed", words, "an error", batches, evidence)
    if fault.kind in ("hang", "crash"):
        words = f"the dataset cannot be set up: {in_words(fault)}"
        return view.fails(fault.kind, words, evidence=Evidence("error", last, wanted="its error"))
    if not carried(fault):
        words = f"another error comes in its place: {in_words(fault)}"
        return view.fails("error", words, evidence=Evidence("error", last, wanted="its error"))
    return view.passed()


def _ending(view: View) -> tuple[Fault | None, list[Batch]]:
    session = view.session(0)
    fault = session.first_fault() if session else None
    return fault, [batch for event in view.events(0) for batch in event.batches]
