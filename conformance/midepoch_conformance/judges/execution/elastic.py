"""Interval, Workers, Elastic: no batch shows the execution, which may change at a resume."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.judges.basis import allowed_missing
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare
from midepoch_conformance.verdict.evidence import Evidence, Piece
from midepoch_conformance.verdict.finding import Finding, fault_kind, is_refusal

__all__ = ["completed"]

_ALONE = ("work left early", "set and left")
"""The families whose two runs are compared with each other."""


@judge("INTERVAL-1", "interval", "work interval")
def at_every_step(view: View) -> Finding | None:
    """A state is exact whatever the interval."""
    return view.all(1)


@judge("WORKERS-1", "workers", "work workers", "payloads", *_ALONE)
def any_worker_count(view: View) -> Finding | None:
    """Another worker count delivers the same, also after an epoch that was broken off."""
    return _same(view.beside_the_first() if view.case.probe in _ALONE else view)


@judge("WORKERS-2", "execution", "work execution")
def any_execution(view: View) -> Finding | None:
    """Another execution delivers the same."""
    return _same(view)


@judge("ELASTIC-1", "elastic", "work elastic")
def resumes_with_others(view: View) -> Finding | None:
    """A state resumes under another worker count."""
    return view.all(1)


@judge("ELASTIC-2", "changed workers")
def refuses_others(view: View) -> Finding | None:
    """If batches depend on the worker count, a changed count is refused or loses nothing."""
    w = view.case.workload
    return completed(view, (w.n,))


@judge("ELASTIC-3", "changed execution")
def resumes_otherwise(view: View) -> Finding | None:
    """A state resumes under another execution."""
    return view.all(1)


def completed(view: View, sizes: tuple[int, ...]) -> Finding | None:
    """Judge whether session 1 refuses the state, or completes its epoch: each sample once.

    ``sizes``: the numbers of samples that count as whole. If either plan drops incomplete
    batches, of the epoch or, with another batch size, of its rest, their samples need not come.
    Nor need those that a tail rule carries into the next epoch.
    Return None if nothing is left of the saved epoch: other judges look at the next one.
    """
    plans = [(view.case.session_workload(i), view.case.sessions[i].execution) for i in (0, 1)]
    drops = [allowed_missing(w, x) for w, x in plans]
    before = [batch for s in view.of(0) for batch in s.got]
    delivered = sum(map(len, before))
    if delivered >= plans[0][0].n - drops[0]:
        return None
    early = view.before(1)
    if early is not None:
        return early
    rest = next((s for s in view.resumed(1) if s.got), None)
    problem_free = rest is not None and rest.ended and rest.fault is None
    if not problem_free:
        fault = next((e.fault for e in view.events(1) if e.fault is not None), None)
        if fault is not None:
            return view.of_fault(fault, 0 if rest is None else len(rest.got), 1)
    after = rest.got if rest is not None else []
    (old, _), (new, x) = plans
    drops += [w.batch_size - 1 for w in (old, new) if w.tail == "rollover"]  # they come later
    if new.batch_size != old.batch_size:  # of another size, what is left may fill no batches
        rests = (dataclasses.replace(new, n=max(0, n - delivered)) for n in sizes)
        drops += [allowed_missing(rest, x) for rest in rests]
    slack = max(drops)
    wrong = [compare.unwhole([*before, *after], n, slack) for n in sizes]
    if any(w is None for w in wrong):
        return view.passed("the saved epoch is completed")
    first = next(w for w in wrong if w is not None)
    words = f"the saved epoch is completed with {compare.show(after)}: {first.words}"
    pieces = (Piece(0), Piece(1, _loaded(view), 0))
    evidence = Evidence("samples", 1, pieces=pieces, wanted=sizes, slack=slack)
    return view.silent(
        first.kind, words, f"the samples after {compare.show(before)}", after, evidence
    )


def _loaded(view: View) -> int:
    """Return the step at which session 1 loads."""
    return max((e.step for e in view.events(1) if e.do.startswith("load")), default=0)


def _same(view: View) -> Finding:
    problem = view.problem(1)
    if problem is None:
        return view.all(1)
    if problem.fault is not None:
        if problem.fault.kind == "raised" and is_refusal(problem.fault, problem.delivered):
            return view.not_offered(f"an uninterrupted run fails here: {problem.words}")
        return view.fails(
            fault_kind(problem.fault, problem.delivered), problem.words, evidence=problem.evidence
        )
    return view.of_problem(problem)
