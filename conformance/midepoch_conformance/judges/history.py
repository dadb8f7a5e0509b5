"""Histories: after any steps, a session delivers the uninterrupted run's batches."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import HISTORIES, HISTORY, PROGRAM
from midepoch_conformance.case.history import dies
from midepoch_conformance.case.programs import leaves_at_an_end
from midepoch_conformance.case.trace import Event
from midepoch_conformance.case.workload import AMBIENT_DRAWS
from midepoch_conformance.judges.outages import (
    INTERRUPTED,
    carried,
    is_interrupt,
    left_after,
    stopped_at,
)
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import Problem, View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.expected import Position
from midepoch_conformance.verdict.finding import Finding, in_words, is_refusal

__all__: list[str] = []


@judge("RESUME-7", HISTORY, PROGRAM, "work left and saved", *INTERRUPTED, alone=True)
def after_any_history(view: View) -> Finding | None:
    """Every session delivers what follows its position, as the run that saved it goes on."""
    if view.case.probe in INTERRUPTED:
        return _left_after_an_interrupt(view)
    if view.case.probe != HISTORY:
        view = view.beside_the_first()
    if view.case.probe not in HISTORIES:
        return view.all(1)
    unknown = _unknown(view)
    if unknown is not None:
        return unknown
    for index in range(len(view.trace.sessions)):
        session = view.session(index)
        if session is not None and session.fault is not None and is_refusal(session.fault, 0):
            # Nothing was loaded yet: the loader does not offer this cell.
            return view.not_offered(in_words(session.fault))
        problem = view.problem(index, _tolerated(view, index))
        late = next((e for e in view.events(index, "load_bogus") if e.fault is None), None)
        if late is not None and (problem is None or problem.step >= late.step):
            # The loader may still refuse it before the next batch; histories do not judge that.
            return view.blocked("the load does not refuse a value that is no state")
        if _spent(view, index):
            return view.not_offered("an interrupt ends the iterator that the adapter makes")
        if problem is None:
            continue
        if view.case.probe == PROGRAM and _swallowed(view, index):
            return view.not_offered("an empty epoch after a load takes what the program asked")
        if _may_refuse(view, index, problem):
            return view.passed(f"as far as it goes: {problem.words}")
        past = _Past(view)
        past.read(index, problem.step)
        found = view.of_problem(problem)
        return dataclasses.replace(found, needs=past.needs(problem))
    return view.passed()


def _left_after_an_interrupt(view: View) -> Finding | None:
    """Judge the epochs that come after one that was interrupted and left, and after its state."""
    left = left_after(view)
    if left is None or not view.events(0, "save"):
        return None  # without a state, EPOCH-5 judges the epochs
    if _spent(view, 0):
        return view.not_offered("an interrupt ends the iterator that the adapter makes")
    problem = view.problem(0, stopped_at(view))
    if problem is None:
        return _resumed_alike(view, left)
    if problem.step < left or view.saving(0, problem):
        return view.blocked(f"wrong already before the next epoch: {problem.words}")
    if problem.fault is not None and is_refusal(problem.fault, 0):
        return Finding(view.requirement, "refused", "", f"then: {problem.words}")
    delivered = any(event.batches for event in view.events(0) if event.step < left)
    if problem.fault is None and not delivered and not view.writes_documents():
        # Only the format says that an epoch without a delivered batch was not begun. A sampler that
        # draws has another order after a pass that was not read to its end.
        return _resumed_alike(view, left)
    return dataclasses.replace(view.of_problem(problem), needs=("FAULT-9",))


def _resumed_alike(view: View, left: int) -> Finding:
    """Judge the resume from a state of after the break: it goes on as the loader itself did."""
    if len(view.case.sessions) == 1:
        return view.passed()
    first, session = view.session(0), view.session(1)
    if first is None or session is None:
        return view.blocked("the play did not get to the resume")
    fault = session.first_fault()
    if fault is not None:
        found = view.of_fault(fault, session.delivered, 1)
        return dataclasses.replace(found, needs=_OF_A_START)
    begun = sum(event.opened for event in first.events if event.step < left)
    went_on, resumed = expected.epochs_of(first)[begun:], expected.epochs_of(session)
    empty = next((number for number, epoch in enumerate(resumed) if epoch), 0)
    for number, got in enumerate(resumed[empty:], start=empty):
        want = went_on[number - empty] if number - empty < len(went_on) else got
        if got != want:
            words = f"the resume delivers {compare.show(got[:1])}, and the loader itself went on "
            words += f"with {compare.show(want[:1])}"
            evidence = Evidence("batches", 1, epoch=number)
            found = view.silent("different", words, want, got, evidence)
            return dataclasses.replace(found, needs=_OF_A_START)
    return view.passed()


_OF_A_START = ("RESUME-4", "EPOCH-2")
"""The requirements of states from before an epoch's first batch."""


def _unknown(view: View) -> Finding | None:
    """Return why there is nothing to compare with; a caught exception is no reason."""
    run = view.oracle.sessions[0] if view.oracle and view.oracle.sessions else None
    if run is None:
        return view.blocked("there is no uninterrupted run")
    faults = [run.fault, *(event.fault for event in run.events)]
    w = view.case.workload
    for fault in (f for f in faults if f is not None):
        if w.fail_at is None or fault is run.fault or not carried(fault):
            words = f"an uninterrupted run fails here: {in_words(fault, run.delivered)}"
            return Finding(view.requirement, "not offered", "oracle", words)
    if any(event.spent for event in run.events):
        return view.not_offered("an exception ends the iterator that the adapter makes")
    if w.fail_at is not None and len([e for e in run.events if e.ended]) < w.epochs:
        return view.blocked("nothing comes after the failed batch")
    return None


def _tolerated(view: View, index: int) -> tuple[int, ...]:
    """Return the steps whose faults were made on purpose."""
    w, usual = view.case.session_workload(index), view.case.workload
    # The error of a sample that fails in this session alone may come from a replay, or, if it is
    # StopIteration, in any words.
    own = (w.fail_at, w.stop_at) != (usual.fail_at, usual.stop_at)
    return tuple(
        event.step
        for event in view.events(index)
        if event.fault is not None
        and event.fault.kind == "raised"
        and (
            dies(w)
            or event.do == "load_bogus"
            or carried(event.fault)
            or (own and event.do in ("take", "drain"))
            or (w.interrupt_at is not None and is_interrupt(event.fault))
        )
    )


def _spent(view: View, index: int) -> bool:
    """Return whether an interrupt ended a generator of the adapter's own."""
    interrupted = view.case.session_workload(index).interrupt_at is not None
    return interrupted and any(event.spent for event in view.events(index))


def _swallowed(view: View, index: int) -> bool:
    """Return whether an empty epoch after a load ended a step that asked for some batches.

    Or the loader skipped it, and the step that asked for the epoch's end asked for the next epoch.
    What the program asked then stands elsewhere than in its own session.
    """
    if view.case.workload.skips and leaves_at_an_end(view.case):
        return True
    steps = view.case.sessions[index].steps
    return any(s.leading and steps[s.step].do == "take" for s in view.of(index))


def _may_refuse(view: View, index: int, problem: Problem) -> bool:
    """Return whether the problem is a refusal that a loader is free to give.

    A load while an iterator is live may be refused, and so may a state from beside a dead worker.
    A loader may also refuse to go on after an interrupt: FAULT-12 says so.
    """
    fault = problem.fault
    if fault is not None and fault.kind == "raised" and _untold(view, index, problem.step):
        return True
    if fault is not None and is_refusal(fault, 0) and _interrupted(view, index, problem.step):
        return True
    if fault is None or not is_refusal(fault, problem.delivered):
        return False
    loads = [s for s in view.case.sessions[index].steps[: problem.step + 1] if s.do == "load"]
    if not loads:
        return False
    return loads[-1].state in _frail(view) or _live(view.events(index), problem.step)


def _untold(view: View, index: int, step: int) -> bool:
    """Return whether a step saves where LANE-35 may have the loader refuse to.

    That is once an epoch of a map-style dataset is over whose end it could not tell, or two epochs
    of a stream.
    """
    w, plan = view.case.session_workload(index), view.case.sessions[index]
    if not w.unsaved or step < 0 or plan.steps[step].do != "save":
        return False
    return view.places[plan.steps[step].state].epoch >= (1 if w.kind == "stateful_map" else 2)


def _interrupted(view: View, index: int, step: int) -> bool:
    """Return whether an interrupt came between the last load before a step and the step."""
    found = False
    for event in view.events(index):
        if event.step >= step:
            break
        found = event.do != "load" and (
            found or (event.fault is not None and is_interrupt(event.fault))
        )
    return found


def _frail(view: View) -> set[str]:
    """Return the states that were taken beside a dying worker, and states made from these."""
    frail: set[str] = set()
    for index, plan in enumerate(view.case.sessions):
        dying = dies(view.case.session_workload(index))
        for step in plan.steps:
            if step.do == "save" and dying:
                frail.add(step.state)
            elif step.into and step.state in frail:
                frail.add(step.into)
    return frail


def _live(events: list[Event], step: int) -> bool:
    """Return whether an epoch is open when ``step`` is taken."""
    live = False
    for event in events:
        if event.step >= step:
            break
        if event.do in ("take", "drain"):
            live = not event.ended
        elif event.do in ("break", "close", "open"):
            live = False
    return live


class _Past:
    """The prerequisites of a step: those of all steps that led to it, through loaded states."""

    def __init__(self, view: View) -> None:
        self.view, self.case = view, view.case
        self.places = view.places
        self.made = {
            (step.state if step.do == "save" else step.into): (index, number)
            for index, plan in enumerate(self.case.sessions)
            for number, step in enumerate(plan.steps)
            if step.do in ("save", "seal", "recode")
        }
        self._found: dict[str, None] = {}
        self._read: set[tuple[int, int]] = set()

    def needs(self, problem: Problem) -> tuple[str, ...]:
        """Return the prerequisites of a problem."""
        difference = problem.difference
        if difference is not None and difference.kind == "values":
            draws = self.case.workload.draws
            self._add("VOWN-1" if "own" in draws else "")
            self._add("VAMB-1" if set(draws) & set(AMBIENT_DRAWS) else "")
        if self.case.workload.tree:
            self._add("STATE-6")
        return tuple(self._found)

    def read(self, index: int, until: int) -> None:
        """Add the prerequisites of a session's steps up to ``until``, and of all that led to it."""
        if (index, until) in self._read:
            return
        self._read.add((index, until))
        x, first = self.case.sessions[index].execution, self.case.sessions[0].execution
        self._add("INTERVAL-1" if x.interval != 1 else "")
        self._faults(index)
        events = self.view.events(index)
        loaded, delivered = False, 0
        for event in (e for e in events if e.step <= until):
            step = self.case.sessions[index].steps[event.step]
            if event.do in ("take", "drain"):
                if not loaded:
                    self._changed(first, x, "WORKERS-1", "WORKERS-2")
                elif event.ended:
                    self._add("EPOCH-1")
                delivered += len(event.batches)
            elif event.do == "load":
                self._loaded(index, event, delivered > 0, loaded)
                loaded, delivered = True, 0
            elif event.do == "save":
                self._add("BASIS-4")
                if loaded:
                    self._add("RESUME-2")
                    self._add("RESUME-3", "" if delivered else "STATE-4")
            elif event.do == "break" and loaded and delivered:
                self._add("EPOCH-1")
            elif event.do == "open":
                loaded, delivered = False, 0
            self._add(*_OF_STEPS.get(event.do, ()))
            if event.do == "edit":
                self._add("STATE-5" if self._was_loaded(index, event) else "STATE-2")
            if step.codec:
                self._add("STATE-3")

    def _faults(self, index: int) -> None:
        w = self.case.session_workload(index)
        if w.fail_at is not None:
            self._add("FAULT-2")
            if self.case.workload.fail_at is not None:
                self._add("FAULT-5", "FAULT-11")
        if w.stop_at is not None:
            self._add("FAULT-3")
        if w.die_at is not None:
            self._add(*(("FAULT-8",) if w.die_once else ("FAULT-1", "FAULT-6")))
        if w.interrupt_at is not None:
            self._add("FAULT-9", "FAULT-12")

    def _loaded(self, index: int, event: Event, delivered: bool, loaded: bool) -> None:
        name = self.case.sessions[index].steps[event.step].state
        self._add("RESUME-1", _place(self.places.get(name, expected.START), self.view.epochs))
        if _live(self.view.events(index), event.step):
            self._add("RESUME-5", "RESUME-8")
        elif delivered or loaded:
            self._add("RESUME-6")
        if name in self.made:
            where, number = self.made[name]
            before, after = (self.case.sessions[i].execution for i in (where, index))
            self._changed(before, after, "ELASTIC-1", "ELASTIC-3")
            self.read(where, number)

    def _changed(self, before: Execution, after: Execution, workers: str, others: str) -> None:
        if before.workers != after.workers:
            self._add(workers)
        if dataclasses.replace(before, workers=after.workers) != after:
            self._add(others)

    def _was_loaded(self, index: int, event: Event) -> bool:
        steps = self.case.sessions[index].steps
        name = steps[event.step].state
        return any(s.do == "load" and s.state == name for s in steps[: event.step])

    def _add(self, *names: str) -> None:
        self._found.update(dict.fromkeys(name for name in names if name))


_OF_STEPS: dict[str, tuple[str, ...]] = {
    "break": ("EPOCH-5",),
    "seal": ("STATE-1",),
    "recode": ("STATE-3",),
    "load_bogus": ("REFUSE-1", "REFUSE-4"),
    "open": ("FAULT-7",),
    "lose": ("FAULT-8",),
}
"""The prerequisites of single steps."""


def _place(position: Position, epochs: expected.Epochs) -> str:
    """Return the requirement of resuming at a position."""
    length = len(epochs[position.epoch]) if position.epoch < len(epochs) else 0
    if position.batches >= length > 0:
        return "EPOCH-3"
    if position.epoch == 0:
        return "RESUME-1" if position.batches else "RESUME-4"
    return "EPOCH-4" if position.batches else "EPOCH-2"
