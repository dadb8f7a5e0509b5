"""A loader of twenty lines, and an engine that plays cases on it in the test's own process.

The loader has no fault; :class:`Engine` takes the faults that it simulates. Tests of the modules
above the runner use it.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType

from midepoch_conformance.case.adapter import Execution, LoaderInfo, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Event, Fault, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload

OFFER = Offer(name="simulated", workers=(0, 1, 2, 3), tails=("keep", "drop"))


@dataclasses.dataclass
class Loader:
    """A position in an epoch; the order depends only on seed and epoch."""

    workload: Workload
    epoch: int = 0
    done: int = 0
    open: bool = False

    def batches(self) -> list[list[list[float]]]:
        w = self.workload
        order: list[float] = list(range(w.n))
        if w.shuffle:
            random.Random(f"{w.seed}/{self.epoch}").shuffle(order)
        size = w.batch_size
        parts = [[[i] for i in order[at : at + size]] for at in range(0, w.n, size)]
        return [p for p in parts if len(p) == size or w.tail == "keep"][self.done :]

    def end(self) -> None:
        self.epoch, self.done, self.open = self.epoch + 1, 0, False


class Engine:
    """Plays cases; it ignores loads in sessions where ``lie(case, session)`` is true."""

    def __init__(
        self,
        lie: Callable[[Case, int], bool] = lambda case, session: False,
        offer: Offer = OFFER,
        declines: Callable[[Workload, Execution], str | None] = lambda w, x: None,
        fault: Callable[[Case, int], Fault | None] = lambda case, session: None,
    ) -> None:
        self.lie = lie
        self.fault = fault
        self.reason = declines
        self.info = LoaderInfo("simulated", "1.0", "3.11", "Linux", {}, offer)
        self.plays: Counter[str] = Counter()
        self.limit = 60.0
        self.closed = False

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed = True

    def begin(self) -> None:
        """Nothing takes long to start."""

    def declines(self, workload: Workload, execution: Execution) -> str | None:
        return self.reason(workload, execution)

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        self.plays[case.id] += 1
        states: dict[str, tuple[int, int]] = {}
        trace = Trace(case.id, [])
        for index, plan in enumerate(case.sessions):
            session = self._session(case, index, plan, states)
            trace.sessions.append(session)
            if session.first_fault() is not None:
                break
        return trace

    def _session(
        self, case: Case, index: int, plan: SessionPlan, states: dict[str, tuple[int, int]]
    ) -> SessionTrace:
        fault = self.fault(case, index)
        if fault is not None:
            return SessionTrace([], fault)
        loader = Loader(case.session_workload(index))
        ignores = self.lie(case, index)
        events = [
            self._step(loader, number, step, states, ignores)
            for number, step in enumerate(plan.steps)
        ]
        return SessionTrace(events, seconds=random.random())

    def _step(
        self,
        loader: Loader,
        number: int,
        step: Step,
        states: dict[str, tuple[int, int]],
        ignores: bool,
    ) -> Event:
        event = Event(number, step.do)
        if step.do in ("take", "drain"):
            event.opened, loader.open = not loader.open, True
            left = loader.batches()
            wanted = len(left) if step.do == "drain" or step.n < 0 else step.n
            event.batches = left[:wanted]
            loader.done += len(event.batches)
            if step.do == "drain" or wanted > len(left):
                event.ended = True
                loader.end()
        elif step.do == "break" and loader.open:
            loader.end()
        elif step.do == "save":
            states[step.state] = (loader.epoch, loader.done)
            event.size, event.drew, event.digest = 16, False, str(states[step.state])
        elif step.do == "load" and not ignores:
            loader.epoch, loader.done = states[step.state]
            loader.open = False
        elif step.do in ("seal", "recode"):
            states[step.into] = states[step.state]
        elif step.do == "open":
            loader.epoch, loader.done, loader.open = 0, 0, False
        elif step.do == "count":
            event.held = {"processes": 0, "threads": 0, "descriptors": 0}
        elif step.do == "close":
            event.left = 0
        return event
