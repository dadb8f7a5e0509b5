"""Makes a failing case smaller while it fails in the same way (pure: it is told what fails)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.history import objection
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.search.shorten import repaired, shorter
from midepoch_conformance.verdict.finding import Finding

__all__ = ["HANG_PLAYS", "PLAYS", "Shrunk", "shrink", "size", "smaller", "sound"]

PLAYS = 60
"""Plays that may be spent on one failure."""

HANG_PLAYS = 8
"""The same where each play takes its whole time limit."""

_PLAIN = Execution()
_WORKLOAD_DEFAULTS: dict[str, Any] = {
    "shuffle": False,
    "tail": "keep",
    "seed": 0,
    "tree": "",
    "stream": "plain",
    "state_at": "dataset",
    "sampler": "",
    "grow": 0,
    "gate": None,
    "width": 1,
}
_OF_EXECUTIONS = (
    "persistent", "prefetch", "start_method", "interval", "lanes", "worker_kind", "in_order",
)  # fmt: skip
_FAULTS = ("fail_at", "stop_at", "die_at")
_OF_STATES = frozenset({"load", "load_cut", "seal", "edit", "recode"})


@dataclasses.dataclass(frozen=True)
class Shrunk:
    """The smallest failing case that was met, what it showed, and the plays that it took."""

    case: Case
    finding: Finding
    plays: int


def shrink(
    case: Case, finding: Finding, fails: Callable[[Case], Finding | None], plays: int | None = None
) -> Shrunk:
    """Make ``case`` smaller, greedily: workers first, then sessions, samples and all else.

    Args:
        case: a failing case.
        finding: what it showed.
        fails: plays a case once and returns what it shows if it fails alike, else None.
        plays: how often ``fails`` may be called; by default :data:`PLAYS`, and
            :data:`HANG_PLAYS` for a hang.
    """
    left = plays if plays is not None else HANG_PLAYS if finding.kind == "hang" else PLAYS
    best, spent = Shrunk(case, finding, 0), 0
    tried = {case.id}
    while True:
        for candidate in smaller(best.case):
            if candidate.id in tried or size(candidate) >= size(best.case):
                continue
            if spent >= left:
                return dataclasses.replace(best, plays=spent)
            tried.add(candidate.id)
            spent += 1
            found = fails(candidate)
            if found is not None:
                best = Shrunk(candidate, found, spent)
                break
        else:
            return dataclasses.replace(best, plays=spent)


def size(case: Case) -> tuple[int, ...]:
    """Return what makes a case large, the weightiest first.

    Workers come first (a case without any is followed with a debugger), then sessions, steps,
    samples and all that is not at its default.
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
        len(w.draws) + sum(getattr(w, k) != v for k, v in _WORKLOAD_DEFAULTS.items()),
        w.batch_size,
        w.seed,
    )


def smaller(case: Case) -> Iterator[Case]:
    """Yield sound cases that may be smaller, the most promising first.

    A published state fits its own plan alone: cases that load one stay as they are.
    """
    if any(step.do == "load_document" for plan in case.sessions for step in plan.steps):
        return
    for candidate in _candidates(case):
        if case.probe == HISTORY:
            whole = repaired(candidate)
            if whole is not None and whole != case:
                yield whole
        elif candidate != case and sound(candidate):
            yield candidate


def sound(case: Case) -> bool:
    """Return whether the case asks for nothing that is not there.

    A case that takes more batches than there are, or whose faulty sample does not exist,
    would show something else than the failure that it came from.
    """
    w = case.workload
    if case.probe == HISTORY:
        return objection(case) is None
    if any(getattr(w, name) is not None and getattr(w, name) >= w.n for name in _FAULTS):
        return False
    if not case.sessions or w.epochs < 0:
        return False
    known: set[str] = set()
    for index, plan in enumerate(case.sessions):
        workload = case.session_workload(index)
        # A lane may hold more batches than its share; none holds fewer than this.
        per_epoch = max(1, workload.n // workload.batch_size)
        if any(step.n > per_epoch for step in plan.steps if step.do == "take"):
            return False
        closed = False
        for number, step in enumerate(plan.steps):
            if step.do in _OF_STATES and step.state not in known:
                return False
            # A closed session can only be counted or opened anew, a dead one nothing at all.
            if closed != (step.do == "open") and step.do not in ("count", "kill"):
                return False
            if step.do == "kill" and number + 1 < len(plan.steps):
                return False
            closed = step.do == "close" or (closed and step.do != "open")
            known |= {step.state, step.into}
    return True


def _candidates(case: Case) -> Iterator[Case]:
    yield from _fewer_workers(case)
    if case.probe == HISTORY:
        yield from shorter(case)
    yield from _fewer_sessions(case)
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
        yield dataclasses.replace(case, sessions=sessions)
    if len({plan.execution.workers for plan in case.sessions}) == 1:
        # Other counts before and after would bring in another cause.
        return
    for index, plan in enumerate(case.sessions):
        for workers in range(plan.execution.workers):
            yield _with_session(case, index, _with_execution(plan, workers=workers))


def _fewer_sessions(case: Case) -> Iterator[Case]:
    """Drop one resume of a chain: the session after it then loads what it had loaded."""
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
        yield dataclasses.replace(case, sessions=(*case.sessions[:index], *rest))


def _smaller_workloads(case: Case) -> Iterator[Case]:
    w = case.workload
    for n in dict.fromkeys((1, 2, 3, 4, 6, w.n // 2, w.n - 2, w.n - 1)):
        if 0 < n < w.n:
            faults = {
                name: min(getattr(w, name), n - 1)
                for name in _FAULTS
                if getattr(w, name) is not None
            }
            for batch_size in dict.fromkeys((min(w.batch_size, n), 1)):
                yield _with_workload(case, n=n, batch_size=batch_size, **faults)
    for batch_size in range(1, w.batch_size):
        yield _with_workload(case, batch_size=batch_size)
    for epochs in range(1, w.epochs):
        yield _with_workload(case, epochs=epochs)


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
        yield dataclasses.replace(case, sessions=sessions)


def _unusual(x: Execution) -> int:
    fields = dataclasses.fields(Execution)
    return sum(getattr(x, f.name) != getattr(_PLAIN, f.name) for f in fields if f.name != "workers")


def _with_workload(case: Case, **changes: Any) -> Case:
    workload: Workload = dataclasses.replace(case.workload, **changes)
    return dataclasses.replace(case, workload=workload)


def _with_execution(plan: SessionPlan, **changes: Any) -> SessionPlan:
    return dataclasses.replace(plan, execution=dataclasses.replace(plan.execution, **changes))


def _with_session(case: Case, index: int, plan: SessionPlan) -> Case:
    sessions = (*case.sessions[:index], plan, *case.sessions[index + 1 :])
    return dataclasses.replace(case, sessions=sessions)


def _with_step(case: Case, index: int, number: int, step: Step) -> Case:
    plan = case.sessions[index]
    steps = (*plan.steps[:number], step, *plan.steps[number + 1 :])
    return _with_session(case, index, dataclasses.replace(plan, steps=steps))
