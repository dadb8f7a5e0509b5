"""The facts that make a case show something, whether it resumes or not (pure).

A family states the facts without which it shows little, and a test looks for each of them in the
cases of every profile. Facts of resumes are those of ``facts/resumes.py``; the others are here.
"""

from __future__ import annotations

from collections.abc import Iterator

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.facts.resumes import resumes

__all__ = ["facts_of"]

_FAULTS = {
    "fail_at": "an error",
    "stop_at": "StopIteration",
    "interrupt_at": "an interrupt",
    "die_at": "a lost worker",
}


def facts_of(case: Case) -> frozenset[str]:
    """Return the words of all facts of a case.

    Example:
        >>> from midepoch_conformance.case.case import Step
        >>> plan = SessionPlan(Execution(workers=2), (Step("drain"), Step("drain")))
        >>> sorted(facts_of(Case("plain", Workload(n=13, batch_size=4), (plan,))))
        ['a tail', 'several epochs', 'workers']
    """
    found: set[str] = set()
    if case.workload.batch_size:  # the model of resumes counts in batches
        found = {str(word) for facts in resumes(case) for axis, word in facts if axis == "reached"}
    for index, plan in enumerate(case.sessions):
        workload = case.session_workload(index)
        found |= {*_of_workload(workload), *_of_execution(workload, plan.execution)}
        found |= {*_of_steps(plan), *_of_later_epochs(workload, plan)}
    if len({plan.execution.world for plan in case.sessions}) > 1:
        found.add("another number of ranks")
    return frozenset(found)


def _of_workload(w: Workload) -> Iterator[str]:
    if w.batch_size and w.n % w.batch_size:
        yield "a tail" if w.tail != "drop" else "a tail dropped"
    if w.n == 0:
        yield "an empty dataset"
    elif w.n < w.batch_size:
        yield "less than a batch"
    if w.shuffle:
        yield "shuffled"
    if w.sampler:
        yield "a user's sampler"
    if w.draws:
        yield "draws"
    if w.exits_at:
        yield "a lost worker"
    if w.fails_also:
        yield "several errors"
    if w.dies_again:
        yield "a replacement replaced"
    yield from (words for name, words in _FAULTS.items() if getattr(w, name) is not None)


def _of_execution(w: Workload, x: Execution) -> Iterator[str]:
    yield "workers" if x.workers else "no workers"
    if usual_length(w, x, 0) < x.workers:
        yield "fewer batches than workers"
    if x.interval > 1:
        yield "an interval"
    if x.persistent:
        yield "persistent workers"
    if x.prefetch is not None:
        yield "a prefetch of its own"
    if x.lanes is not None and x.lanes > max(1, x.workers):
        yield "more lanes than workers"
    if x.world > 1:
        yield "several ranks"


def _of_steps(plan: SessionPlan) -> Iterator[str]:
    names = [step.do for step in plan.steps]
    if names.count("drain") > 1:
        yield "several epochs"
    if "break" in names:
        yield "an epoch broken off"
    if "lose" in names:
        yield "a worker lost and replaced"
    if "name_epoch" in names:
        yield "a named epoch"
    if "kill" in names:
        yield "a killed process"


def _of_later_epochs(w: Workload, plan: SessionPlan) -> Iterator[str]:
    names = [step.do for step in plan.steps]
    if w.shuffle and "load" in names and names[names.index("load") :].count("drain") > 1:
        workers = "workers" if plan.execution.workers else "no workers"
        yield f"a shuffled epoch after the resumed one, {workers}"
