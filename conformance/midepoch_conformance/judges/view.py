"""The judges' view of a case: its trace, compared with the uninterrupted run (pure)."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

from midepoch_conformance.case.case import PROGRAM, Case
from midepoch_conformance.case.trace import Event, Fault, SessionTrace, Trace
from midepoch_conformance.verdict import compare, finding
from midepoch_conformance.verdict import expected as model
from midepoch_conformance.verdict.evidence import UNINTERRUPTED, Evidence
from midepoch_conformance.verdict.expected import Epochs, Position, Stretch
from midepoch_conformance.verdict.finding import Finding

__all__ = ["Problem", "View"]


@dataclasses.dataclass(frozen=True)
class Problem:
    """The first problem of a session."""

    epoch: int
    """The epochs since the load, whole or begun, before the problem's own; 0 before the first
    batch."""

    step: int
    """Index of the step."""

    fault: Fault | None = None
    """The fault, if the problem is one."""

    difference: compare.Difference | None = None
    """The difference, if the problem is one."""

    delivered: int = 0
    """Batches delivered since the load."""

    evidence: Evidence | None = None
    """The observation that shows the problem again."""

    @property
    def words(self) -> str:
        """Return the problem in words."""
        if self.difference is not None:
            return self.difference.words
        return finding.in_words(self.fault, self.delivered) if self.fault else ""


class View:
    """One case, played, for one requirement."""

    def __init__(
        self,
        requirement: str,
        case: Case,
        trace: Trace,
        oracle: Trace | None,
        live_load: str = "either",
        broken: str = "counts",
        other: int = UNINTERRUPTED,
    ) -> None:
        self.requirement = requirement
        self.case = case
        self.trace = trace
        self.oracle = oracle
        self.live_load = live_load
        self.broken = broken
        self.other = other

    def beside_the_first(self) -> View:
        """Return the case with its first session in place of the uninterrupted run."""
        run = Trace("oracle", self.trace.sessions[:1])
        documented = self.live_load, self.broken
        return View(self.requirement, self.case, self.trace, run, *documented, other=0)

    @functools.cached_property
    def epochs(self) -> Epochs:
        """The epochs of the uninterrupted run."""
        return model.epochs_of(self.oracle.sessions[0]) if self.oracle else []

    @functools.cached_property
    def stretches(self) -> list[Stretch]:
        """All stretches of the trace."""
        return model.follow(self.case, self.trace, self.epochs, broken=self._broken)

    @functools.cached_property
    def places(self) -> dict[str, Position]:
        """The position at which each state was taken."""
        return model.positions(self.case, self.trace, self.epochs, broken=self._broken)

    @property
    def _broken(self) -> str:
        # A case's own session, which others are compared with, has the epochs that it broke off.
        beside_its_own = self.other != UNINTERRUPTED
        own = beside_its_own or self.case.probe in (PROGRAM, "work left and saved")
        return "counts" if own else self.broken

    def session(self, index: int) -> SessionTrace | None:
        """Return a session's trace; None if the play did not get there."""
        return self.trace.sessions[index] if index < len(self.trace.sessions) else None

    def events(self, index: int, *do: str) -> list[Event]:
        """Return a session's events, of the named actions if any are named."""
        session = self.session(index)
        return [e for e in session.events if not do or e.do in do] if session else []

    def saves(self, index: int) -> list[Event]:
        """Return a session's saves whose states are documents of the format."""
        return [e for e in self.events(index, "save") if isinstance(e.document, dict)]

    def writes_documents(self) -> bool:
        """Return whether any session saved a document of the format."""
        return any(self.saves(index) for index in range(len(self.case.sessions)))

    def merges(self, index: int) -> list[Event]:
        """Return a session's loads of states that ranks' states make together, if documents."""
        return [e for e in self.events(index, "load_merged") if isinstance(e.document, dict)]

    def of(self, index: int) -> list[Stretch]:
        """Return a session's stretches."""
        return [s for s in self.stretches if s.session == index]

    def resumed(self, index: int) -> list[Stretch]:
        """Return a session's stretches after its last load, leading empty epochs dropped."""
        loads = [e.step for e in self.events(index) if e.do.startswith("load") and not e.fault]
        after = loads[-1] if loads else -1
        return [s for s in self.of(index) if s.step > after and not s.leading]

    # Findings.

    def passed(self, words: str = "") -> Finding:
        """Return a pass."""
        return Finding(self.requirement, "pass", "", words)

    def blocked(self, words: str) -> Finding:
        """Return *blocked*: another requirement has to hold first."""
        return Finding(self.requirement, "blocked", "", words)

    def not_offered(self, words: str) -> Finding:
        """Return *not offered*: the loader cannot be asked this."""
        return Finding(self.requirement, "not offered", "", words)

    def silent(
        self,
        kind: str,
        words: str,
        expected: Any = None,
        got: Any = None,
        evidence: Evidence | None = None,
    ) -> Finding:
        """Return a failure without an error."""
        name = self.requirement
        return Finding(
            name,
            "fails silently",
            kind,
            words,
            expected,
            got,
            evidence=evidence or Evidence("recipe"),
        )

    def fails(
        self,
        kind: str,
        words: str,
        expected: Any = None,
        got: Any = None,
        evidence: Evidence | None = None,
    ) -> Finding:
        """Return any other failure."""
        found = self.silent(kind, words, expected, got, evidence)
        return dataclasses.replace(found, outcome="fails")

    def of_fault(
        self,
        fault: Fault,
        delivered: int,
        session: int | None = None,
        evidence: Evidence | None = None,
    ) -> Finding:
        """Return the finding on a fault after ``delivered`` batches since the load.

        The error shows in ``session``, by default the case's last one.
        """
        last = len(self.case.sessions) - 1 if session is None else session
        evidence = evidence or Evidence("error", last, wanted="no error")
        found = finding.of_fault(self.requirement, fault, delivered)
        return dataclasses.replace(found, evidence=evidence)

    def of_problem(self, problem: Problem) -> Finding:
        """Return the finding on a problem."""
        if problem.difference is not None:
            d = problem.difference
            return self.silent(d.kind, d.words, d.expected, d.got, problem.evidence)
        if problem.fault is None:
            return self.passed()
        return self.of_fault(problem.fault, problem.delivered, evidence=problem.evidence)

    def needs(self, index: int, problem: Problem | None) -> tuple[str, ...]:
        """Return the prerequisites of a resume in session ``index``, by its state's position.

        The classes of resuming itself presuppose nothing of each other here.
        """
        if self.requirement.startswith(("RESUME", "EPOCH")):
            return ()
        loaded = next((s.start for s in self.of(index) if s.loaded), None)
        if loaded is None or problem is None:
            return ()
        if loaded.epoch == 0:
            place = "RESUME-1" if loaded.batches else "RESUME-4"
        else:
            place = "EPOCH-4" if loaded.batches else "EPOCH-2"
        return (place, "EPOCH-1") if problem.epoch else (place,)

    # Questions that most judges ask.

    def problem(self, index: int, tolerated: tuple[int, ...] = ()) -> Problem | None:
        """Return the first problem of a session, faults and differences in their order.

        Faults of the ``tolerated`` steps do not count.
        """
        session = self.session(index)
        if session is None:
            return None
        if session.fault is not None:
            evidence = Evidence("error", index, wanted="no error", last=-1)
            return Problem(0, -1, fault=session.fault, evidence=evidence)
        return _Search(self, index, tolerated).first()

    def before(self, index: int) -> Finding | None:
        """Return why session ``index`` cannot be judged: the problem before it.

        A state that cannot be taken or encoded is the requirement's own failure; anything
        else is some other requirement's.
        """
        for earlier in range(index):
            problem = self.problem(earlier)
            if problem is None:
                continue
            if problem.fault is not None and self.saving(earlier, problem):
                return self.of_problem(problem)
            where = "before the state was taken" if earlier == 0 else f"in session {earlier}"
            return self.blocked(f"wrong already {where}: {problem.words}")
        session = self.session(index)
        if session is None:
            return self.blocked("the play did not get there")
        if session.fault is not None and finding.is_refusal(session.fault, 0):
            # Nothing was loaded yet: the loader does not offer this cell.
            return self.not_offered(finding.in_words(session.fault))
        return None

    def rest(self, index: int) -> Finding:
        """Judge the first epoch that a session delivers after its load."""
        problem = self.problem(index)
        early = self._early(index, problem)
        if early is not None:
            return early
        if problem is None or problem.epoch > 0:
            return self.passed()
        return self._needing(index, problem)

    def later(self, index: int) -> Finding:
        """Judge the epochs after the first; blocked if the first one is wrong."""
        problem = self.problem(index)
        early = self._early(index, problem)
        if early is not None:
            return early if early.outcome == "blocked" else self.blocked(early.words)
        if problem is None:
            return self.passed()
        if problem.epoch == 0:
            return self.blocked(f"the epoch resumed into is wrong itself: {problem.words}")
        return self.of_problem(problem)

    def all(self, index: int) -> Finding:
        """Judge everything that a session delivers."""
        problem = self.problem(index)
        early = self._early(index, problem)
        if early is not None:
            return early
        return self.passed() if problem is None else self._needing(index, problem)

    def _needing(self, index: int, problem: Problem) -> Finding:
        found = self.of_problem(problem)
        return dataclasses.replace(found, needs=self.needs(index, problem))

    def _early(self, index: int, problem: Problem | None) -> Finding | None:
        early = self.before(index)
        if early is not None or problem is None:
            return early
        load = next((e.step for e in self.events(index) if e.do.startswith("load")), -1)
        if -1 < problem.step < load:
            return self.blocked(f"wrong already before the load: {problem.words}")
        return None

    def saving(self, session: int, problem: Problem) -> bool:
        """Return whether a problem is that a state could not be taken or encoded."""
        saves = {e.step for e in self.events(session) if e.do in ("save", "seal")}
        return problem.fault is not None and problem.step in saves


_ANEW = ("load", "load_cut", "load_document", "load_merged", "load_bogus", "open")
"""Steps after which epochs are counted from 0 again."""


class _Search:
    """Reads one session from its start to its first problem."""

    def __init__(self, view: View, index: int, tolerated: tuple[int, ...]) -> None:
        self.view, self.index = view, index
        self.tolerated = tolerated
        self.events = view.events(index)
        self.stretches = view.of(index)
        if view.case.session_workload(index).adopts and not view.case.workload.adopts:
            # Until it loads a state, the loader has a seed of its own, and no run to equal.
            load = next((e.step for e in self.events if e.do.startswith("load")), math.inf)
            self.stretches = [stretch for stretch in self.stretches if stretch.step >= load]

    def first(self) -> Problem | None:
        wrong = self._difference()
        faults = (e for e in self.events if e.fault is not None)
        fault = next((e for e in faults if e.step not in self.tolerated), None)
        # A step delivers its batches before it raises its error.
        if fault is None or (wrong is not None and wrong.step <= fault.step):
            return wrong or self._nothing()
        epoch, delivered = self._at(fault.step)
        delivered += len(fault.batches)
        if fault.do.startswith("load"):
            epoch, delivered = 0, 0
        evidence = Evidence("error", self.index, last=fault.step, wanted="no error")
        return Problem(epoch, fault.step, fault=fault.fault, delivered=delivered, evidence=evidence)

    def _difference(self) -> Problem | None:
        for stretch in self.stretches:
            found = compare.difference(stretch, self.view.epochs)
            if found is not None:
                epoch, delivered = self._at(stretch.step)
                step = self._step(stretch, found.at)
                evidence = self._evidence(stretch, step)
                return Problem(
                    epoch, step, difference=found, delivered=delivered, evidence=evidence
                )
        return None

    def _evidence(self, stretch: Stretch, last: int) -> Evidence:
        """Return the stretch as far as a step, beside the uninterrupted run."""
        anew = (e.step for e in self.events if e.step < stretch.step and e.do in _ANEW)
        step = max(anew, default=0)
        earlier = [s for s in self.stretches if step <= s.step < stretch.step and not s.leading]
        steps = self.view.case.sessions[self.index].steps[stretch.step : last + 1]
        asked = [s for s in steps if s.do in ("take", "drain")]
        begin, stop = stretch.start.batches, None
        if not any(s.do == "drain" or s.n == -1 for s in asked):
            stop = begin + sum(s.n for s in asked)
        run = (stretch.start.epoch, begin, stop)
        return Evidence("batches", self.index, step, last, len(earlier), run, other=self.view.other)

    def _step(self, stretch: Stretch, at: int) -> int:
        """Return the step that delivered batch ``at`` of a stretch, or saw it missing."""
        delivered = 0
        for event in self.events:
            if event.step < stretch.step or event.do not in ("take", "drain"):
                continue
            delivered += len(event.batches)
            if delivered > at or event.ended:
                return event.step
        return stretch.step

    def _nothing(self) -> Problem | None:
        """Return the problem of a resume after which all epochs are empty."""
        loads = [e.step for e in self.events if e.do.startswith("load") and e.fault is None]
        resumed = [s for s in self.stretches if s.loaded and s.step > max(loads, default=-1)]
        if not resumed or not all(s.leading for s in resumed):
            return None
        want, start = resumed[0].want, resumed[0].start
        if not want:
            return None
        if len(resumed) == 1 and start.epoch and not start.batches:
            # The empty rest of an epoch whose end had not been seen.
            return None
        count = len(resumed)
        words = f"nothing comes in {count} epoch{'s' if count > 1 else ''} after the load"
        return Problem(
            0,
            resumed[0].step,
            difference=compare.Difference("missing", words, want, []),
            evidence=self._evidence(resumed[0], resumed[-1].step),
        )

    def _at(self, step: int) -> tuple[int, int]:
        """Return the epochs and the batches delivered between the last load and ``step``."""
        load = max(
            (e.step for e in self.events if e.do.startswith("load") and e.step < step), default=-1
        )
        epochs = [s for s in self.stretches if load < s.step < step and s.ended and not s.leading]
        batches = sum(len(e.batches) for e in self.events if load < e.step < step)
        return len(epochs), batches
