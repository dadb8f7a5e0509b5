"""Varies a history: a few random edits, and what then may not be asked goes (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.adapter import Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.history import MOST_EPOCHS, dies, fails
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.draws import MAPS, Chance, Unplayable, changed_execution
from midepoch_conformance.search.shorter import repaired

__all__ = ["varied"]


def varied(case: Case, chance: Chance, offer: Offer) -> Case:
    """Return a history that differs a little from another one.

    Raises:
        Unplayable: nothing is left, or it is not offered.
    """
    for _ in range(1 + chance.below(3)):
        case = chance.one(_EDITS)(case, chance, offer)
    # An edit may have made room for more epochs than the history had before.
    roomy = dataclasses.replace(case.workload, epochs=MOST_EPOCHS)
    found = repaired(dataclasses.replace(case, workload=roomy))
    if found is None:
        raise Unplayable("no step is left")
    words = reason_not_offered(found, offer)
    if words is not None:
        raise Unplayable(words)
    return found


def _drop(case: Case, chance: Chance, offer: Offer) -> Case:
    index, steps = _session(case, chance)
    if not steps:
        return case
    at = chance.below(len(steps))
    return _with(case, index, steps[:at] + steps[at + 1 :])


def _insert(case: Case, chance: Chance, offer: Offer) -> Case:
    index, steps = _session(case, chance)
    w = case.session_workload(index)
    faulty = fails(w)
    states = [step.into or step.state for p in case.sessions for step in p.steps if step.state]
    take = Step("take", 1 + chance.below(3), tolerate=faulty)
    save = Step("save", state=f"v{chance.below(1000)}", tolerate=dies(w))
    new = [take, Step("drain", tolerate=faulty), Step("break"), save]
    if states:
        new.append(Step("load", state=chance.one(states)))
    at = chance.below(len(steps) + 1)
    return _with(case, index, (*steps[:at], chance.one(new), *steps[at:]))


def _swap(case: Case, chance: Chance, offer: Offer) -> Case:
    index, steps = _session(case, chance)
    if len(steps) < 2:
        return case
    at = chance.below(len(steps) - 1)
    return _with(case, index, (*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :]))


def _resize(case: Case, chance: Chance, offer: Offer) -> Case:
    w = case.workload
    if chance.often(0.5):
        changed = dataclasses.replace(w, n=max(1, w.n + chance.one((-2, -1, 1, 2))))
    else:
        changed = dataclasses.replace(w, batch_size=max(1, w.batch_size + chance.one((-1, 1))))
    return dataclasses.replace(case, workload=changed)


def _execute(case: Case, chance: Chance, offer: Offer) -> Case:
    index = chance.below(len(case.sessions))
    before = case.sessions[index].execution
    multi = any(plan.execution.workers for plan in case.sessions)
    x = changed_execution(chance, offer, case.workload, before, multi, {})
    plan = dataclasses.replace(case.sessions[index], execution=x)
    sessions = (*case.sessions[:index], plan, *case.sessions[index + 1 :])
    return dataclasses.replace(case, sessions=sessions)


def _extend(case: Case, chance: Chance, offer: Offer) -> Case:
    """Resume once more, from any state."""
    states = [step.state for p in case.sessions for step in p.steps if step.do == "save"]
    if not states or len(case.sessions) > _MOST_SESSIONS:
        return case
    number, faulty = len(case.sessions), case.workload.fail_at is not None
    drain = Step("drain", tolerate=faulty)
    steps = (Step("load", state=chance.one(states)), *(drain,) * (4 if faulty else 3))
    x = case.sessions[-1].execution
    plan = SessionPlan(x, steps, 1 + 100 * number, "ab"[number % 2])
    return dataclasses.replace(case, sessions=(*case.sessions, plan))


def _fault(case: Case, chance: Chance, offer: Offer) -> Case:
    """Let a sample of one session raise, or let Ctrl-C come while it is made."""
    index, steps = _session(case, chance)
    w = case.session_workload(index)
    if fails(w) or not w.n:
        return case
    # A stream that raises StopIteration ends.
    fields = (
        ("fail_at", "interrupt_at", "stop_at") if w.kind in MAPS else ("fail_at", "interrupt_at")
    )
    field = chance.one(fields)
    changes: dict[str, Any] = {field: chance.below(w.n)}
    if field == "interrupt_at":
        changes["log"] = "auto"
    moves = (
        dataclasses.replace(step, tolerate=True) if step.do in ("take", "drain") else step
        for step in steps
    )
    plan = case.sessions[index]
    workload = tuple({**dict(plan.workload), **changes}.items())
    changed = dataclasses.replace(plan, workload=workload)
    sessions = (*case.sessions[:index], changed, *case.sessions[index + 1 :])
    return _with(dataclasses.replace(case, sessions=sessions), index, tuple(moves))


_EDITS = (_drop, _insert, _swap, _resize, _execute, _extend, _fault)
_MOST_SESSIONS = 6


def _session(case: Case, chance: Chance) -> tuple[int, tuple[Step, ...]]:
    index = chance.below(len(case.sessions))
    return index, case.sessions[index].steps


def _with(case: Case, index: int, steps: tuple[Step, ...]) -> Case:
    plan = dataclasses.replace(case.sessions[index], steps=steps)
    sessions = (*case.sessions[:index], plan, *case.sessions[index + 1 :])
    return dataclasses.replace(case, sessions=sessions)
