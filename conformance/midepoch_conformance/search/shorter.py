"""Makes a failing history shorter: without sessions, steps, faults or settings (pure).

What is left may ask for what is not there; :func:`repaired` leaves such steps out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.history import FAULTS, Course, objection
from midepoch_conformance.case.workload import Workload

__all__ = ["faultless", "fewer_sessions", "fewer_steps", "repaired", "with_defaults"]

_OF_SESSIONS = (*FAULTS, "die_once", "dies_again", "log", "adopts")


def repaired(case: Case) -> Case | None:
    """Return a history without the steps that may not be asked; None if no step is left.

    A ``take`` of too many batches takes the batches that are left. The workload has as many
    epochs as the history reaches.
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


def fewer_sessions(case: Case) -> Iterator[Case]:
    """Yield the history without a session, or without what it does to the later ones."""
    for index in range(len(case.sessions)):
        yield dataclasses.replace(case, sessions=(*case.sessions[:index], *_relinked(case, index)))
    for index in range(len(case.sessions)):
        yield dataclasses.replace(
            case, sessions=(*case.sessions[:index], *case.sessions[index + 1 :])
        )


def fewer_steps(case: Case) -> Iterator[Case]:
    """Yield the history without some of its steps; the largest pieces are left out first."""
    places = [(i, n) for i, plan in enumerate(case.sessions) for n in range(len(plan.steps))]
    size = len(places) // 2
    while size:
        for end in range(len(places), 0, -size):
            yield _without(case, set(places[max(0, end - size) : end]))
        size //= 2
    for i, n in places:
        step = case.sessions[i].steps[n]
        if step.do in ("seal", "recode"):
            yield _renamed(_without(case, {(i, n)}), step.into, step.state)


def _renamed(case: Case, old: str, new: str) -> Case:
    """Return the history that uses the state ``new`` in the place of ``old``."""
    sessions = (
        dataclasses.replace(
            plan,
            steps=tuple(
                dataclasses.replace(step, state=new) if step.state == old else step
                for step in plan.steps
            ),
        )
        for plan in case.sessions
    )
    return dataclasses.replace(case, sessions=tuple(sessions))


def with_defaults(case: Case) -> Iterator[Case]:
    """Yield the history with every field at its default that does not change its events."""
    w = case.workload
    workload = Workload(
        kind=w.kind, n=w.n, batch_size=w.batch_size, epochs=w.epochs, fail_at=w.fail_at,
        fails_in=w.fails_in,
    )  # fmt: skip
    plans = []
    for plan in case.sessions:
        x = Execution(workers=plan.execution.workers, lanes=plan.execution.lanes)
        steps = tuple(
            step if step.do == "recode" else dataclasses.replace(step, codec="")
            for step in plan.steps
        )
        plans.append(dataclasses.replace(plan, execution=x, steps=steps))
    yield dataclasses.replace(case, workload=workload, sessions=tuple(plans))


def faultless(case: Case) -> Iterator[Case]:
    """Yield the history without its failing sample and what else is unusual of single sessions."""
    plans = []
    for plan in case.sessions:
        steps = (dataclasses.replace(step, tolerate=step.do == "load_bogus") for step in plan.steps)
        others = tuple((name, value) for name, value in plan.workload if name not in _OF_SESSIONS)
        plans.append(dataclasses.replace(plan, steps=tuple(steps), workload=others))
    plain = dataclasses.replace(case.workload, fail_at=None, fails_also=(), fails_in="dataset")
    found = dataclasses.replace(case, workload=plain, sessions=tuple(plans))
    if found != case:
        yield found


def _relinked(case: Case, index: int) -> tuple[SessionPlan, ...]:
    """Return the sessions after a dropped one; they load the state that it had loaded."""
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
    sessions = (
        dataclasses.replace(
            plan, steps=tuple(s for n, s in enumerate(plan.steps) if (i, n) not in places)
        )
        for i, plan in enumerate(case.sessions)
    )
    return dataclasses.replace(case, sessions=tuple(sessions))
