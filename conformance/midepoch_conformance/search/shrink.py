"""Makes a failing case smaller while it fails in the same way (pure: a function plays it)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import HISTORY, OF_STAGES, PROGRAM, Case, SessionPlan, Step
from midepoch_conformance.case.history import FAULTS, objection
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.search.fewer_parts import (
    fewer_moves,
    fewer_stages,
    is_program,
    is_staged,
)
from midepoch_conformance.search.shorter import (
    faultless,
    fewer_sessions,
    fewer_steps,
    repaired,
    with_defaults,
)
from midepoch_conformance.verdict.finding import Finding

__all__ = ["HANG_PLAYS", "PLAYS", "Shrunk", "shrink", "size", "smaller", "sound"]

PLAYS = 60
"""The number of plays for one failure."""

HANG_PLAYS = 8
"""The number of plays for a hang, of which each takes its whole time limit."""

_PLAIN = Execution()
_WORKLOAD_DEFAULTS: dict[str, Any] = {
    "shuffle": False,
    "tail": "keep",
    "seed": 0,
    "mixed": False,
    "tree": "",
    "stream": "plain",
    "state_at": "dataset",
    "sampler": "",
    "grow": 0,
    "gate": None,
    "width": 1,
    "payload": "",
    "unsaved": 0,
    "skips": False,
    "checked": False,
    "ends": False,
    "falsy": False,
    "unreadable": False,
    "fails_also": (),
    "slow": (),
}
_OF_EXECUTIONS = (
    "persistent", "prefetch", "start_method", "interval", "lanes", "worker_kind", "in_order",
    "restarts",
)  # fmt: skip
_OF_STATES = frozenset({"load", "load_cut", "seal", "edit", "recode"})


@dataclasses.dataclass(frozen=True)
class Shrunk:
    """The smallest failing case, its finding, and the number of plays that found it."""

    case: Case
    finding: Finding
    plays: int


def shrink(
    case: Case,
    finding: Finding,
    fails: Callable[[Case], Finding | None],
    plays: int | None = None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Shrunk:
    """Make ``case`` smaller, greedily: workers first, then sessions, samples and all else.

    A history is searched in stages: after a smaller one is found, the stage goes on, and the
    earlier ones are tried again when the later ones have been. It ends when no stage finds any.

    Args:
        case: a failing case.
        finding: the case's finding.
        fails: plays a case once and returns its finding if the case fails alike, else None.
        plays: how often ``fails`` may be called; by default :data:`PLAYS`, and
            :data:`HANG_PLAYS` for a hang.
        goes_on: whether there is time for another play; the search ends when there is none.
    """
    left = plays if plays is not None else HANG_PLAYS if finding.kind == "hang" else PLAYS
    best, spent = Shrunk(case, finding, 0), 0
    tried = {case.id}
    stages = _stages(case)
    stage, idle = 0, 0
    while idle < len(stages):
        for candidate in _sound_ones(best.case, stages[stage]):
            if candidate.id in tried or size(candidate) >= size(best.case):
                continue
            if spent >= left or not goes_on():
                return dataclasses.replace(best, plays=spent)
            tried.add(candidate.id)
            spent += 1
            found = fails(candidate)
            if found is not None:
                best, idle = Shrunk(candidate, found, spent), 0
                break
        else:
            stage, idle = (stage + 1) % len(stages), idle + 1
    return dataclasses.replace(best, plays=spent)


def size(case: Case) -> tuple[int, ...]:
    """Return the measures of a case's size, the weightiest first.

    Workers come first, because a debugger can follow a case without workers. Sessions, steps,
    samples and all fields that are not at their default come next.
    """
    executions = [plan.execution for plan in case.sessions]
    steps = [step for plan in case.sessions for step in plan.steps]
    w = case.workload
    return (
        max((x.workers for x in executions), default=0),
        sum(x.workers for x in executions),
        len(executions),
        len(steps),
        w.n,
        sum(abs(step.n) for step in steps),
        w.epochs,
        sum(_unusual(x) for x in executions),
        sum(len(plan.workload) for plan in case.sessions),
        len(w.draws) + sum(getattr(w, k) != v for k, v in _WORKLOAD_DEFAULTS.items()),
        w.batch_size,
        w.seed,
    )


def smaller(case: Case) -> Iterator[Case]:
    """Yield sound cases that may be smaller, the most promising first.

    A published state fits only its own plan, so a case that loads one stays as it is.
    """
    for stage in _stages(case):
        yield from _sound_ones(case, stage)


_Stage = Callable[[Case], Iterator[Case]]


def _sound_ones(case: Case, stage: _Stage) -> Iterator[Case]:
    if any(step.do == "load_document" for plan in case.sessions for step in plan.steps):
        return
    for candidate in stage(case):
        if case.probe == HISTORY:
            whole = repaired(candidate)
            if whole is not None and whole != case:
                yield whole
        elif candidate != case and sound(candidate):
            yield candidate


def sound(case: Case) -> bool:
    """Return whether everything exists that the case asks for.

    A case that takes too many batches, or has a faulty sample that does not exist, would show
    another failure than the one that it came from.
    """
    w = case.workload
    if case.probe == HISTORY:
        return objection(case) is None
    if case.probe in OF_STAGES:
        return is_staged(case)
    if case.probe == PROGRAM:
        return is_program(case)
    if any(getattr(w, name) is not None and getattr(w, name) >= w.n for name in FAULTS):
        return False
    if not case.sessions or w.epochs < 0:
        return False
    known: set[str] = set()
    for index, plan in enumerate(case.sessions):
        workload = case.session_workload(index)
        # A lane may hold more batches than its share, but no lane holds fewer.
        per_epoch = max(1, workload.n // (workload.batch_size or 1))
        if any(step.n > per_epoch for step in plan.steps if step.do == "take"):
            return False
        closed = False
        for number, step in enumerate(plan.steps):
            if step.do in _OF_STATES and step.state not in known:
                return False
            # A closed session can only be counted or opened again; a dead one can do nothing.
            if closed != (step.do == "open") and step.do not in ("count", "kill"):
                return False
            if step.do == "kill" and number + 1 < len(plan.steps):
                return False
            closed = step.do == "close" or (closed and step.do != "open")
            known |= {step.state, step.into}
    return True


def _stages(case: Case) -> tuple[_Stage, ...]:
    """Return what makes a case smaller, the most promising first."""
    if case.probe in (*OF_STAGES, PROGRAM):
        pieces = fewer_moves if case.probe == PROGRAM else fewer_stages
        return (_fewer_workers, pieces, _smaller_workloads, _plainer)
    if case.probe == HISTORY:
        plain, parts = (_fewer_workers, with_defaults, faultless), (fewer_sessions, fewer_steps)
        return (*plain, *parts, _smaller_workloads, _shorter_takes, _plainer)
    return (_candidates,)


def _candidates(case: Case) -> Iterator[Case]:
    yield from _fewer_workers(case)
    yield from _shorter_chains(case)
    yield from _smaller_workloads(case)
    yield from _shorter_takes(case)
    yield from _plainer(case)


def _fewer_workers(case: Case) -> Iterator[Case]:
    most = max(plan.execution.workers for plan in case.sessions)
    for bound in range(most):
        sessions = tuple(
            _with_execution(plan, workers=min(plan.execution.workers, bound))
            for plan in case.sessions
        )
        yield _with_sessions(case, sessions)
    if len({plan.execution.workers for plan in case.sessions}) == 1:
        # Different counts before and after would bring in another cause.
        return
    for index, plan in enumerate(case.sessions):
        for workers in range(plan.execution.workers):
            yield _with_session(case, index, _with_execution(plan, workers=workers))


def _shorter_chains(case: Case) -> Iterator[Case]:
    """Drop one resume of a chain: the next session then loads the state that it had loaded."""
    for index in range(1, len(case.sessions) - 1):
        loads = [step for step in case.sessions[index].steps if step.do == "load"]
        after = case.sessions[index + 1]
        if len(loads) != 1:
            continue
        steps = tuple(
            dataclasses.replace(step, state=loads[0].state) if step.do == "load" else step
            for step in after.steps
        )
        rest = (dataclasses.replace(after, steps=steps), *case.sessions[index + 2 :])
        yield _with_sessions(case, (*case.sessions[:index], *rest))


def _smaller_workloads(case: Case) -> Iterator[Case]:
    w = case.workload
    for n in dict.fromkeys((1, 2, 3, 4, 6, w.n // 2, w.n - 2, w.n - 1)):
        if 0 < n < w.n:
            faults = {
                name: min(getattr(w, name), n - 1)
                for name in FAULTS
                if getattr(w, name) is not None
            }
            sessions = tuple(_within(plan, n) for plan in case.sessions)
            for batch_size in dict.fromkeys((min(w.batch_size, n), 1)):
                smaller = _with_workload(case, n=n, batch_size=batch_size, **faults)
                yield _with_sessions(smaller, sessions)
    for batch_size in range(1, w.batch_size):
        yield _with_workload(case, batch_size=batch_size)
    for epochs in range(1, w.epochs):
        yield _with_workload(case, epochs=epochs)


def _within(plan: SessionPlan, n: int) -> SessionPlan:
    """Return a session whose own faulty sample is one of the first ``n``."""
    workload = tuple(
        (name, min(value, n - 1) if name in FAULTS and value is not None else value)
        for name, value in plan.workload
    )
    return dataclasses.replace(plan, workload=workload)


def _shorter_takes(case: Case) -> Iterator[Case]:
    for index, plan in enumerate(case.sessions):
        for number, step in enumerate(plan.steps):
            if step.do == "take" and step.n > 1:
                for n in dict.fromkeys((1, step.n // 2, step.n - 1)):
                    yield _with_step(case, index, number, dataclasses.replace(step, n=n))


def _plainer(case: Case) -> Iterator[Case]:
    for name, value in _WORKLOAD_DEFAULTS.items():
        if getattr(case.workload, name) != value:
            yield _with_workload(case, **{name: value})
    for draw in case.workload.draws:
        yield _with_workload(case, draws=tuple(d for d in case.workload.draws if d != draw))
    for field in _OF_EXECUTIONS:
        changes = {field: getattr(_PLAIN, field)}
        sessions = tuple(_with_execution(plan, **changes) for plan in case.sessions)
        yield _with_sessions(case, sessions)


def _unusual(x: Execution) -> int:
    fields = dataclasses.fields(Execution)
    return sum(getattr(x, f.name) != getattr(_PLAIN, f.name) for f in fields if f.name != "workers")


def _with_sessions(case: Case, sessions: tuple[SessionPlan, ...]) -> Case:
    return dataclasses.replace(case, sessions=sessions)


def _with_workload(case: Case, **changes: Any) -> Case:
    workload: Workload = dataclasses.replace(case.workload, **changes)
    return dataclasses.replace(case, workload=workload)


def _with_execution(plan: SessionPlan, **changes: Any) -> SessionPlan:
    return dataclasses.replace(plan, execution=dataclasses.replace(plan.execution, **changes))


def _with_session(case: Case, index: int, plan: SessionPlan) -> Case:
    return _with_sessions(case, (*case.sessions[:index], plan, *case.sessions[index + 1 :]))


def _with_step(case: Case, index: int, number: int, step: Step) -> Case:
    plan = case.sessions[index]
    steps = (*plan.steps[:number], step, *plan.steps[number + 1 :])
    return _with_session(case, index, dataclasses.replace(plan, steps=steps))
