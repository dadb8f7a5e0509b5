"""World: ranks with a state each, which the same or another number of ranks loads."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Batch, SessionTrace, Trace
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import Evidence, Piece
from midepoch_conformance.verdict.finding import Finding, in_words

__all__ = ["fault_of_rank", "one_rank"]

_OF_STATES = frozenset({"WORLD-1", "WORLD-2", "WORLD-4", "WORLD-5", "WORLD-7", "WORLD-10"})
"""The requirements of the states of ranks: the others say nothing of a state that fails."""


@judge("WORLD-1", "ranks", "dealt ranks at an end")
def each_rank(view: View) -> Finding | None:
    """Each rank's state resumes that rank."""
    found = None
    for resumed, saved in _loads(view).items():
        x = view.case.sessions[resumed].execution
        if _rank(view, saved) != (x.rank, x.world):
            continue
        found = _of_rank(view, saved, resumed).all(1)
        if found.outcome != "pass":
            words = f"rank {x.rank} of {x.world}: {found.words}"
            shown = found.evidence
            if shown is not None:
                shown = dataclasses.replace(shown, session=resumed, other=saved)
            return dataclasses.replace(found, words=words, evidence=shown)
    return found


@judge("WORLD-2", "resized ranks")
def other_ranks(view: View) -> Finding | None:
    """Another number of ranks refuses the states, or delivers each sample once."""
    loads = _loads(view)
    saving = [index for index in range(len(view.case.sessions)) if index not in loads]
    before, after = _world(view, saving), _world(view, list(loads))
    w = view.case.workload
    if before is None or after is None or w.sampler != "distributed":
        return None  # a rank is missing, or no sampler deals the samples to ranks
    if w.n % before or w.n % after:
        return None  # some samples are dealt twice, so that ranks get equally many
    early = next(filter(None, (_unsaved(view, index) for index in saving)), None)
    if early is not None:
        return early
    saved = [batch for index in saving for batch in _delivered(view, index)]
    if sum(map(len, saved)) >= w.n:
        return None  # nothing of the epoch is left to complete
    rest: list[Batch] = []
    for index in loads:
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        failed = fault_of_rank(view, index)
        if failed is not None:
            return failed
        rest += _delivered(view, index)
    wrong = compare.unwhole([*saved, *rest], w.n)
    if wrong is None:
        return view.passed("the saved epoch is completed")
    ranks = f"{before} ranks save" if before > 1 else "one rank saves"
    words = f"{ranks}, {after} complete{'' if after > 1 else 's'} the epoch with "
    words += f"{compare.show(rest)}: {wrong.words}"
    pieces = tuple(Piece(index, 0, 0) for index in (*saving, *loads))
    evidence = Evidence("samples", max(loads), pieces=pieces, wanted=(w.n,))
    rest_words = f"the samples after {compare.show(saved)}"
    return view.silent(wrong.kind, words, rest_words, rest, evidence)


def one_rank(view: View) -> SessionTrace | Finding:
    """Return the run of one rank alone, with which ranks are compared, or why there is none."""
    session = view.session(0)
    if session is None:
        return view.blocked("the play did not get there")
    fault = session.first_fault()
    return session if fault is None else view.blocked(f"one rank alone fails: {in_words(fault, 0)}")


def fault_of_rank(view: View, index: int) -> Finding | None:
    """Return the finding on a rank's session that fails, or None if it does not fail."""
    session = view.session(index)
    fault = None if session is None else session.first_fault()
    if session is None or fault is None:
        return None
    delivered = sum(len(event.batches) for event in session.events)
    found = view.of_fault(fault, delivered, index)
    rank, world = _rank(view, index)
    words = f"rank {rank} of {world}: {found.words}"
    if fault.at in ("state", "codec") and view.requirement not in _OF_STATES:
        return view.blocked(words)
    return dataclasses.replace(found, words=words)


def _loads(view: View) -> dict[int, int]:
    """Return for each session that loads a state the one that saved it."""
    savers: dict[str, int] = {}
    found = {}
    for index, plan in enumerate(view.case.sessions):
        for step in plan.steps:
            if step.do == "save":
                savers[step.state] = index
            elif step.do == "load" and step.state in savers:
                found[index] = savers[step.state]
    return found


def _rank(view: View, index: int) -> tuple[int, int]:
    x = view.case.sessions[index].execution
    return x.rank, x.world


def _world(view: View, sessions: list[int]) -> int | None:
    """Return the number of ranks of these sessions; None unless each rank is there once."""
    ranks = [_rank(view, index) for index in sessions]
    world = ranks[0][1] if ranks else 0
    return world if sorted(ranks) == [(rank, world) for rank in range(world)] else None


def _of_rank(view: View, saved: int, resumed: int) -> View:
    """Return one rank's two sessions, to be compared with the first one's later batches."""
    case = view.case
    alone = Case(case.probe, case.workload, (case.sessions[saved], case.sessions[resumed]))
    found = [s for s in (view.session(saved), view.session(resumed)) if s is not None]
    return View(view.requirement, alone, Trace(case.id, found), Trace("oracle", found[:1]))


def _unsaved(view: View, rank: int) -> Finding | None:
    """Return why a rank gave no state."""
    session = view.session(rank)
    if session is None:
        return view.blocked("the play did not get to the states")
    fault = session.first_fault()
    if fault is None:
        return None
    at = next((e for e in session.events if e.fault is not None), None)
    if at is not None and at.do == "save":
        return view.of_fault(fault, 0, rank)
    return view.blocked(f"rank {rank} fails before its state is taken: {fault.type}")


def _delivered(view: View, index: int) -> list[Batch]:
    """Return what a session delivered of its first epoch that has anything."""
    session = view.session(index)
    epochs = expected.epochs_of(session) if session else []
    return next((epoch for epoch in epochs if epoch), [])
