"""Cost: states and resumes do not grow with the position."""

from __future__ import annotations

from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding

__all__: list[str] = []

SLACK = 256
"""Bytes that a state may grow by over 800 batches, because its numbers get longer."""

CALLS = 4
"""Calls of ``state_dict`` for each copy of the dataset beside those for the interval's
snapshots."""


@judge("COST-1", "size")
def size(view: View) -> Finding | None:
    """A late state is not larger than an early one."""
    problem = view.problem(0)
    if problem is not None:
        return view.blocked(f"the run fails: {problem.words}")
    sizes = [e.size for e in view.events(0, "save") if e.size is not None]
    if len(sizes) < 2:
        return None
    early, late = sizes[0], sizes[-1]
    words = f"{early} bytes after 112 batches, {late} bytes after 912"
    if late - early > SLACK:
        return view.fails("cost", words, early, late, Evidence("size", wanted=SLACK))
    return view.passed(words)


@judge("COST-2", "calls")
def calls(view: View) -> Finding | None:
    """``state_dict`` is called as often as the interval requires."""
    problem = view.problem(0)
    if problem is not None:
        return view.blocked(f"the run fails: {problem.words}")
    counted = [e.calls for e in view.events(0) if e.calls is not None]
    if not counted:
        return None
    x = view.case.sessions[0].execution
    batches = sum(len(e.batches) for e in view.events(0))
    got = sum(c.get("state_dict", 0) for c in counted)
    # Each worker's copy of the dataset takes part in each snapshot.
    most = max(1, x.workers, x.lanes or 0) * (batches // x.interval + CALLS)
    words = f"{got} calls of state_dict in {batches} batches at interval {x.interval}"
    if got > most:
        evidence = Evidence("calls", wanted=("state_dict", most))
        return view.fails("cost", f"{words}; at most {most} are needed", most, got, evidence)
    return view.passed(words)


@judge("COST-3", "fetched again")
def fetched_again(view: View) -> Finding | None:
    """A late resume fetches as few samples as an early one."""
    early, late = _fetched(view, 1), _fetched(view, 2)
    if isinstance(early, Finding):
        return early
    if isinstance(late, Finding):
        return late
    if early is None or late is None:
        return None
    words = f"{early} samples fetched to resume after 112 batches, {late} after 912"
    # Read-ahead varies from run to run, by far less than half of what lies between.
    most = 800 * view.case.workload.batch_size // 2
    if late - early > most:
        evidence = Evidence("calls", 2, wanted=("fetch", most), other=1)
        return view.fails("cost", words, early, late, evidence)
    return view.passed(words)


@judge("COST-4", "iterated again")
def iterated_again(view: View) -> Finding | None:
    """A resume iterates the dataset once for each worker and epoch."""
    finding = view.all(1)
    if finding.outcome != "pass":
        return view.blocked(f"the resume is wrong itself: {finding.words}")
    counted = [e.calls for e in view.events(1) if e.calls is not None]
    if not counted:
        return None
    x = view.case.sessions[1].execution
    copies = max(1, x.workers, x.lanes or 0)
    epochs = len(view.of(1))
    got = sum(c.get("iter", 0) for c in counted)
    words = f"{got} calls of iter(dataset) in {epochs} epochs with {copies} worker(s)"
    if got > copies * epochs:
        evidence = Evidence("calls", 1, wanted=("iter", copies * epochs))
        words = f"{words}; at most {copies * epochs}"
        return view.fails("cost", words, copies * epochs, got, evidence)
    return view.passed(words)


@judge("COST-5", "fetched once")
def fetched_once(view: View) -> Finding | None:
    """No epoch fetches a sample twice."""
    problem = view.problem(0)
    if problem is not None:
        return view.blocked(f"the run fails: {problem.words}")
    counted = [e.fetched for e in view.events(0) if e.fetched is not None]
    if not counted:
        return None
    n, got = view.case.workload.n, sum(counted)
    epochs = sum(event.ended for event in view.events(0))
    words = f"{got} samples fetched in {epochs} epochs of {n}"
    # A loader may prefetch up to an epoch, and may fetch samples once before the first epoch. One
    # more sample in each epoch exceeds both.
    most = epochs * n + n
    if got > most:
        evidence = Evidence("calls", wanted=("fetch", most))
        return view.fails("cost", f"{words}; at most {most}", most, got, evidence)
    return view.passed(words)


def _fetched(view: View, session: int) -> int | Finding | None:
    finding = view.rest(session)
    if finding.outcome != "pass":
        return view.blocked(f"the resume is wrong itself: {finding.words}")
    counted = [e.fetched for e in view.events(session) if e.fetched is not None]
    return sum(counted) if counted else None
