"""Refusal: the loader refuses a state that it cannot continue, and does not guess."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.case import Step
from midepoch_conformance.case.trace import Batch, Event
from midepoch_conformance.judges.execution.elastic import completed
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.text import counted
from midepoch_conformance.verdict import compare
from midepoch_conformance.verdict.evidence import AS_MANY, Evidence, Piece
from midepoch_conformance.verdict.expected import START, Stretch
from midepoch_conformance.verdict.finding import Finding, fault_kind, is_refusal

__all__: list[str] = []

_VALUES = {
    "none": "None",
    "empty": "an empty mapping",
    "list": "a list of numbers",
    "text": "a text",
    "number": "a number",
    "foreign": "a foreign mapping",
    "no_items": "an empty list",
    "no_text": "an empty text",
    "zero": "0",
}


_A_REFUSAL = Evidence("error", wanted="a refusal")


@judge("REFUSE-1", "no state")
def no_state(view: View) -> Finding | None:
    """A value that is no state is refused."""
    what = _VALUES.get(view.case.sessions[0].steps[0].value, "it")
    if any(isinstance(e.document, str) for e in view.events(0, "load_bogus")):
        return view.not_offered(f"the loader's own states are of this type: {what}")
    batches = [batch for event in view.events(0) for batch in event.batches]
    session = view.session(0)
    fault = session.first_fault() if session else None
    if fault is not None:
        if fault.at == "open":
            return view.blocked("the loader cannot be built")
        return view.of_fault(fault, len(batches), evidence=_A_REFUSAL)
    words = f"{what} is taken for a state: {compare.show(batches[:1])} comes first"
    return view.silent("different", words, "a refusal", batches, _A_REFUSAL)


@judge("REFUSE-2", "part removed")
def part_removed(view: View) -> Finding | None:
    """A state that lacks a part is refused or continued exactly."""
    if any(isinstance(e.document, str) for e in view.events(1, "load_cut")):
        return None  # the state has fewer parts
    return view.all(1)


@judge("REFUSE-3", "other plan")
def other_plan(view: View) -> Finding | None:
    """A state of another plan is refused, or its epoch is completed."""
    sizes = {view.case.workload.n, view.case.session_workload(1).n}
    return completed(view, tuple(sorted(sizes)))


@judge("REFUSE-4", "after a refusal", "after a refused part", "work refused")
def after_a_refusal(view: View) -> Finding | None:
    """A refused load leaves the loader as it was."""
    plans = enumerate(view.case.sessions)
    tried = ((i, n) for i, plan in plans for n, s in enumerate(plan.steps) if _is_refused(s))
    index, step = next(tried, (0, 0))
    load = next((e for e in view.events(index) if e.step == step), None)
    if load is None:
        return view.blocked("the play did not get to the load")
    if load.fault is None:
        # The epoch may be completed under another plan, which REFUSE-3 judges.
        return None if index else _refused_late(view, load)
    if not is_refusal(load.fault, 0):
        return view.blocked("it is not refused but breaks (see REFUSE-1 and REFUSE-3)")
    return _as_it_was(view, index, load)


def _is_refused(step: Step) -> bool:
    return step.do.startswith("load") and step.tolerate


def _as_it_was(view: View, index: int, load: Event) -> Finding:
    """Judge what follows a refused load in its session, and in the one that continues it."""
    problem = view.problem(index, tolerated=(load.step,))
    if problem is None:
        resumed = view.problem(index + 1)
        if resumed is None:
            return view.passed()
        found, needs = view.of_problem(resumed), view.needs(index + 1, resumed)
        words = f"from the state that was taken after the refused load: {found.words}"
        return dataclasses.replace(found, words=words, needs=needs)
    if problem.step < load.step:
        return view.blocked(f"wrong already before the load: {problem.words}")
    if problem.fault is not None:
        kind = fault_kind(problem.fault, problem.delivered)
        words = f"after the refused load: {problem.words}"
        found = view.fails(kind, words, evidence=problem.evidence)
    else:
        found = view.of_problem(problem)
    # The refused load may follow one that was not refused, and went wrong.
    return dataclasses.replace(found, needs=view.needs(index, problem))


def _refused_late(view: View, load: Event) -> Finding | None:
    """Judge a load that is refused at an epoch's start: the epoch after that is whole."""
    events = view.events(0)
    ask = next((e for e in events if e.step == load.step + 1), None)
    if ask is None or ask.fault is None or not is_refusal(ask.fault, len(ask.batches)):
        return view.blocked("it is not refused (see REFUSE-1)")
    if not view.case.sessions[0].steps[ask.step].tolerate:
        return None
    after = [e for e in events if e.step > ask.step]
    fault = next((e.fault for e in after if e.fault is not None), None)
    batches = [batch for e in after for batch in e.batches]
    if fault is not None:
        words = f"after the refusal it cannot be used any more: {fault.type}: {fault.message}"
        evidence = Evidence("error", 0, ask.step + 1, wanted="no error")
        return view.fails(fault_kind(fault, len(batches)), words, evidence=evidence)
    if not compare.are_numbered([batch for epoch in view.epochs for batch in epoch]):
        return _like_a_run(view, batches, ask.step + 1)
    wrong = compare.unwhole(batches, view.case.workload.n)
    if wrong is not None:
        words = f"the epoch after the refusal: {wrong.words}"
        n = view.case.workload.n
        evidence = Evidence("samples", pieces=(Piece(0, ask.step + 1),), wanted=(n,))
        return view.silent(wrong.kind, words, "each sample once", batches, evidence)
    return view.passed()


def _like_a_run(view: View, batches: list[Batch], step: int) -> Finding:
    """Judge an epoch of a user's own samples by the uninterrupted run, as they have no numbers.

    Where the epochs of a run differ, a refused load may leave the loader in any order. An epoch
    then has as many batches as each of the run's, if these have equally many.
    """
    first = view.epochs[0]
    if all(epoch == first for epoch in view.epochs):
        epoch = Stretch(0, step, START, "", first, batches, ended=True)
        wrong = compare.difference(epoch, view.epochs)
        if wrong is None:
            return view.passed()
        words = f"after the refusal: {wrong.words}"
        evidence = Evidence("batches", 0, step, run=(0, 0, None))
        return view.silent(wrong.kind, words, wrong.expected, wrong.got, evidence)
    counts = {len(epoch) for epoch in view.epochs}
    if len(batches) in counts or len(counts) > 1:
        return view.passed()
    kind = "missing" if len(batches) < len(first) else "extra"
    words = f"the epoch after the refusal: {counted(len(batches), 'batch')} of {len(first)}"
    evidence = Evidence("batches", 0, step, run=(0, 0, None), wanted=AS_MANY)
    return view.silent(kind, words, first, batches, evidence)
