"""Shorter histories: pieces are left out, and with them what means nothing any more (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.history import Course, objection
from midepoch_conformance.case.workload import Workload

__all__ = ["repaired", "shorter"]


def shorter(case: Case) -> Iterator[Case]:
    """Yield shorter histories, the largest pieces left out first."""
    for candidate in _pieces(case):
        whole = repaired(candidate)
        if whole is not None:
            yield whole


def repaired(case: Case) -> Case | None:
    """Return a history without the steps that may not be asked; None where nothing is left.

    A ``take`` of more than there is takes what there is, and as many epochs are compared as are
    reached.
    """
    course = Course(case.workload)
    plans: list[SessionPlan] = []
    for index, plan in enumerate(case.sessions):
        course.begin(case.session_workload(index), plan)
        kept: list[Step] = []
        for step in plan.steps:
            if step.do == "take" and step.n > course.left > 0:
                step = dataclasses.replace(step, n=course.left)
            if course.objection(step) is None:
                course.follow(step)
                kept.append(step)
        if kept:
            plans.append(dataclasses.replace(plan, steps=tuple(kept)))
    if not plans:
        return None
    workload = dataclasses.replace(case.workload, epochs=min(case.workload.epochs, course.epochs))
    found = dataclasses.replace(case, workload=workload, sessions=tuple(plans))
    return found if objection(found) is None else None


def _pieces(case: Case) -> Iterator[Case]:
    yield _plain(case)
    yield from _faultless(case)
    for index in range(len(case.sessions)):
        yield _with(case, (*case.sessions[:index], *_relinked(case, index)))
    for index in range(len(case.sessions)):
        yield _with(case, (*case.sessions[:index], *case.sessions[index + 1 :]))
    places = [(i, n) for i, plan in enumerate(case.sessions) for n in range(len(plan.steps))]
    size = len(places) // 2
    while size:
        for end in range(len(places), 0, -size):
            yield _without(case, set(places[max(0, end - size) : end]))
        size //= 2


def _plain(case: Case) -> Case:
    """Return the history with all at once at its default that is no part of what happens."""
    w = case.workload
    workload = Workload(
        kind=w.kind, n=w.n, batch_size=w.batch_size, epochs=w.epochs, fail_at=w.fail_at
    )
    plans = []
    for plan in case.sessions:
        x = Execution(workers=plan.execution.workers, lanes=plan.execution.lanes)
        steps = tuple(
            step if step.do == "recode" else dataclasses.replace(step, codec="")
            for step in plan.steps
        )
        plans.append(dataclasses.replace(plan, execution=x, steps=steps))
    return dataclasses.replace(case, workload=workload, sessions=tuple(plans))


def _faultless(case: Case) -> Iterator[Case]:
    """Yield the history in which no sample fails, where one does."""
    plans = []
    for plan in case.sessions:
        steps = (dataclasses.replace(step, tolerate=step.do == "load_bogus") for step in plan.steps)
        others = tuple((name, value) for name, value in plan.workload if name != "die_at")
        plans.append(dataclasses.replace(plan, steps=tuple(steps), workload=others))
    plain = dataclasses.replace(case.workload, fail_at=None)
    found = dataclasses.replace(case, workload=plain, sessions=tuple(plans))
    if found != case:
        yield found


def _relinked(case: Case, index: int) -> tuple[SessionPlan, ...]:
    """Return the sessions after one that is left out: its states are what it had loaded."""
    steps = case.sessions[index].steps
    loaded = next((step.state for step in steps if step.do == "load"), None)
    made = {step.into or step.state for step in steps if step.do in ("save", "seal", "recode")}

    def relinked(step: Step) -> Step:
        if loaded is None or step.do == "save" or step.state not in made:
            return step
        return dataclasses.replace(step, state=loaded)

    return tuple(
        dataclasses.replace(plan, steps=tuple(map(relinked, plan.steps)))
        for plan in case.sessions[index + 1 :]
    )


def _without(case: Case, places: set[tuple[int, int]]) -> Case:
    return _with(
        case,
        tuple(
            dataclasses.replace(
                plan, steps=tuple(s for n, s in enumerate(plan.steps) if (i, n) not in places)
            )
            for i, plan in enumerate(case.sessions)
        ),
    )


def _with(case: Case, sessions: tuple[SessionPlan, ...]) -> Case:
    return dataclasses.replace(case, sessions=sessions)
