"""Plays one session: opens the loader, takes the steps, writes the journal (standard library).

Imports nothing heavy: it runs in a process that was forked for this one session.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import signal
import time
import types
from collections.abc import Iterator
from typing import Any, cast

from midepoch_conformance.case import tampering
from midepoch_conformance.case.adapter import Adapter, MergingSession, NamingSession, Offer, Session
from midepoch_conformance.case.case import CaseError, Step
from midepoch_conformance.case.trace import Event, Fault
from midepoch_conformance.host.faults import ENDLESS, fault_of, from_outside
from midepoch_conformance.host.job import Job
from midepoch_conformance.host.session import codecs
from midepoch_conformance.host.session.batch_values import (
    BatchError,
    in_arrays,
    in_numbers,
    in_words,
)
from midepoch_conformance.host.session.beside import AnotherLoader, of_another
from midepoch_conformance.host.session.held_batches import HeldBatches
from midepoch_conformance.host.session.holdings import Holdings
from midepoch_conformance.host.session.journal import FetchLog, Journal
from midepoch_conformance.host.session.kept_states import NO_SUCH_STATE, KeptStates, NoSuchState
from midepoch_conformance.host.session.streams import Streams, seed_streams
from midepoch_conformance.host.system.child_signals import ChildSignals
from midepoch_conformance.host.system.processes import end_one, left_after

__all__ = ["NO_SUCH_PART", "OWN_TYPE", "Play"]

PARTING = 2
"""The seconds that a loader has to close if no step asks for it."""

NO_SUCH_PART = "no such part"
"""``Event.document`` of a step that ended its session because a state had no such part."""

OWN_TYPE = "of the type of a state"
"""``Event.document`` of a step that loaded a value which may be one of the loader's states."""


class _FailedError(Exception):
    """A step failed; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Play:
    """One session being played."""

    def __init__(self, adapter: Adapter, offer: Offer, job: Job, own: frozenset[str]) -> None:
        self.adapter, self.job, self.own = adapter, job, own
        self.codecs = codecs.Codecs(offer)
        # A user's own training loader has epochs of unknown length.
        self.endless = offer.name == "own"
        # Without workers, such a loader may deliver objects that its dataset keeps and changes.
        self.holds = not self.endless or job.execution.workers > 0
        self.journal = Journal(job.journal)
        self.session: Session | None = None
        self.other: AnotherLoader | None = None
        self.epoch: Iterator[list[list[float]]] | None = None
        self.begun = False
        self.states = KeptStates(job.folder, job.states, self.journal)
        self.log = FetchLog(job.workload, job.execution, job.folder)
        self.holdings = Holdings(self.journal.descriptor)
        of_rows = in_arrays if job.workload.width > 1 else in_numbers
        self.read = in_words if self.endless else of_rows
        self.held = HeldBatches(self.read, few=self.endless)
        self.signals = ChildSignals()
        self.doomed = self.failed = False
        self.asking = False
        self.began = time.monotonic()

    def run(self, forked: bool) -> bool:
        """Play the session; return whether all its steps were taken.

        ``forked``: the process belongs to this session alone. If the loader does not close at the
        end, the process is killed.
        """
        self.began = time.monotonic()
        with contextlib.closing(self.journal), self._interruptible():
            whole = self._begin() and self._steps()
            self.journal.at("closing")
            if forked:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(PARTING)
            try:
                self._reread("at the session's end")
                # Some loaders take seconds to close after an error, and no step asks for it.
                if not (forked and self.failed):
                    self._drop()
                    self._reread("after the loader was dropped")
            except BaseException:
                whole = False
            if forked:
                signal.alarm(0)
            self.journal.done(time.monotonic() - self.began)
        if not forked:
            self.signals.give_back()
        return whole

    def _begin(self) -> bool:
        self.journal.at("open")
        if any(step.do == "count" for step in self.job.steps):
            self.holdings.begin()
        seed_streams(self.job.ambient)
        try:
            with self.signals.turn():  # some loaders start workers here
                self.session = self._opened_anew()
        except BaseException as error:
            self.signals.hold()  # the handler may have raised just before the turn kept it
            self.journal.failed(fault_of(error, "open", self.own))
            return False
        return True

    def _opened_anew(self) -> Session:
        job = self.job
        return self.adapter.open(self.log.workload, job.execution, job.root)

    def _steps(self) -> bool:
        for index, step in enumerate(self.job.steps):
            self.journal.step(index, step.do)
            event = Event(index, step.do)
            over = False
            try:
                with self.signals.turn():
                    getattr(self, f"_{step.do}")(step, event)
            except _FailedError as failed:
                event.fault = failed.fault
                over = not step.tolerate
            except NoSuchState:
                event.document, over = NO_SUCH_STATE, True
            except tampering.NoSuchPart:
                event.document, over = NO_SUCH_PART, True
            except Exception as error:
                self.signals.hold()  # the handler may have raised just before the turn kept it
                if not from_outside(error):
                    raise
                # A loader's handler of signals may raise in the suite's own lines: torch's does
                # when a worker dies.
                event.fault = fault_of(error, self.journal.phase, self.own)
                over = not step.tolerate
            event.seconds = time.monotonic() - self.began
            event.fetched, event.calls = self.log.counts()
            self.journal.event(event)
            self.failed |= event.fault is not None
            if self.doomed:
                self._die()
            if over:
                return event.fault is None
        return True

    # The steps' actions, by their names in case.ACTIONS.

    def _take(self, step: Step, event: Event) -> None:
        with self._streams(event):
            self._opened(event)
            for taken in range(step.n):
                if not self._next(event, self._phase(event, taken)):
                    return

    def _drain(self, step: Step, event: Event) -> None:
        with self._streams(event):
            self._opened(event)
            epoch = self.epoch
            for taken in range(self._bound()):
                if not self._next(event, self._phase(event, taken)):
                    if step.n and epoch is not None:
                        with self._watched("end"):
                            next(epoch, None)
                    return
        raise _FailedError(
            Fault("hang", ENDLESS, message=f"no end after {self._bound()} batches", at="end")
        )

    def _break(self, step: Step, event: Event) -> None:
        with self._watched("next"):
            self.epoch = None

    def _save(self, step: Step, event: Event) -> None:
        session = self._live("state")
        with self._streams(event), self._watched("state"):
            state = session.state()
        self.states.keep(step.state, state)
        self._encode(state, step.codec or self.codecs.default, step.state, event)

    def _seal(self, step: Step, event: Event) -> None:
        codec = step.codec or self.states.codec(step.state)
        state = self.states.object(step.state)
        event.altered = self.states.altered(step.state)
        self._encode(state, codec, step.into, event)

    def _recode(self, step: Step, event: Event) -> None:
        state = self._decoded(step.state)
        self._encode(state, step.codec or self.codecs.default, step.into, event)

    def _edit(self, step: Step, event: Event) -> None:
        tampering.edit(self.states.object(step.state), step.n)

    def _load(self, step: Step, event: Event) -> None:
        state = self._decoded(step.state)
        self.states.keep(step.state, state)
        self._give(state)
        event.altered = self.states.altered(step.state)

    def _load_merged(self, step: Step, event: Event) -> None:
        # The parts may be given in any order (RANK-14).
        states = [self._decoded(name) for name in reversed(step.state.split("/"))]
        with self._watched("load"):
            state = cast(MergingSession, self._live("load")).merge(states)
        event.document = self.codecs.document(state)
        self._give(state)

    def _load_bogus(self, step: Step, event: Event) -> None:
        value = tampering.bogus(step.value, self.codecs.default)
        self._give(value)
        # A loader chooses the content of its states: a number, or a list of them, may be one.
        if isinstance(value, (int, list)) and type(self._first_state()) is type(value):
            event.document = OWN_TYPE

    def _load_cut(self, step: Step, event: Event) -> None:
        state = self._decoded(step.state)
        place = tampering.path(state, step.n)
        state = tampering.cut(state, step.n)
        event.document = place
        self._give(state)

    def _load_document(self, step: Step, event: Event) -> None:
        with self._watched("codec", "codec"):
            state = self.codecs.decode("json", step.document.encode())
        if step.state:
            self.states.keep(step.state, state)
        self._give(state)

    def _name_epoch(self, step: Step, event: Event) -> None:
        session = cast(NamingSession, self._live("name"))
        with self._watched("name"):
            session.name_epoch(step.n)

    def _overwrite(self, step: Step, event: Event) -> None:
        self._reread("before it was written into")
        self.held.overwrite()

    def _close(self, step: Step, event: Event) -> None:
        with self._watched("close"):
            self._drop()
        self._reread("after the loader was closed")
        event.left = left_after(self.job.patience)

    def _open(self, step: Step, event: Event) -> None:
        if self.session is not None:
            raise CaseError("a step opens a session that is already open: no step closed it")
        with self._watched("open"):
            self.session = self._opened_anew()

    def _count(self, step: Step, event: Event) -> None:
        # Memory that a held batch needs does not count as the loader's.
        self.held.drop()
        event.held = self.holdings.count(self.job.patience)

    def _beside(self, step: Step, event: Event) -> None:
        with self._watched("next"):
            if self.other is None:
                job = self.job
                w = dataclasses.replace(job.workload, **of_another(job.workload.seed))
                session = self.adapter.open(w, job.execution, job.root)
                self.other = AnotherLoader(session)
            self.other.deliver(step.n)

    def _lose(self, step: Step, event: Event) -> None:
        end_one()

    def _kill(self, step: Step, event: Event) -> None:
        # The process is killed only once the journal holds the step.
        self.doomed = True

    # The parts of the actions.

    def _die(self) -> None:
        self.journal.killed()
        while True:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def _streams(self, event: Event) -> Iterator[None]:
        """Note whether the global streams moved meanwhile."""
        before = Streams()
        try:
            yield
        finally:
            event.drew = before.moved()

    def _drop(self) -> None:
        self.epoch = None
        other, self.other = self.other, None
        session, self.session = self.session, None
        for one in (other, session):
            if one is not None:
                one.close()
        other = session = one = None
        gc.collect()

    def _opened(self, event: Event) -> None:
        if self.epoch is None:
            session = self._live("iter")
            self.begun = False
            event.opened = True
            self.journal.opened()
            with self._watched("iter"):
                self.epoch = iter(session.epoch())

    def _next(self, event: Event, phase: str) -> bool:
        """Deliver a batch; return whether the epoch had one."""
        if self.epoch is None:
            return False
        with self._watched(phase if self.begun else "iter"):
            try:
                self.asking = True
                rows = next(self.epoch)
            except StopIteration:
                event.ended = True
                self.journal.ended()
                self.epoch = None
                return False
            except BaseException:
                event.spent = self._is_spent(self.epoch)
                raise
            finally:
                self.asking = False
            batch = self.read(rows)
        self.journal.batch(batch)
        if self.holds:
            self.held.add(rows, batch)
        self.begun = True
        return True

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Handle the interrupts that a sample sends, if one does."""
        if self.log.workload.interrupt_at is None:
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupted(self, *signal_: object) -> None:
        """Interrupt the loader while a batch is asked for; at other times nothing is its fault."""
        if self.asking:
            self.asking = False
            self.log.workload.note("raised")
            raise KeyboardInterrupt

    def _reread(self, when: str) -> None:
        """Note the held batches that have changed."""
        self.journal.changed(when, self.held.changed())

    def _is_spent(self, epoch: Iterator[Any]) -> bool:
        """Return whether an exception has ended a generator of the adapter's own."""
        if not isinstance(epoch, types.GeneratorType):
            return False
        return epoch.gi_frame is None and epoch.gi_code.co_filename in self.own

    def _phase(self, event: Event, taken: int) -> str:
        left = self.job.left[event.step] if event.step < len(self.job.left) else None
        return "end" if taken == left else "next"

    def _bound(self) -> int:
        """Return more batches than any honest epoch has."""
        return 1_000_000 if self.endless else 4 * self.job.workload.n + 64

    def _give(self, state: Any) -> None:
        session = self._live("load")
        with self._watched("load"):
            session.load(state)

    def _encode(self, state: Any, codec: str, name: str, event: Event) -> None:
        with self._watched("codec", "codec"):
            data = self.codecs.encode(codec, state)
        event.document = self.codecs.document(state)
        self.states.write(name, codec, data, event)

    def _decoded(self, name: str) -> Any:
        codec, data = self.states.read(name)
        with self._watched("codec", "codec"):
            return self.codecs.decode(codec, data)

    def _first_state(self) -> Any:
        """Return a state of a loader that nothing was asked of; None if it has none then."""
        with contextlib.suppress(Exception), contextlib.closing(self._opened_anew()) as session:
            return session.state()
        return None

    def _live(self, at: str) -> Session:
        if self.session is None:
            raise CaseError(f"a step at {at!r} follows the step that closed the session")
        return self.session

    @contextlib.contextmanager
    def _watched(self, at: str, kind: str = "raised") -> Iterator[None]:
        """Turn any exception into the step's fault."""
        self.journal.at(at)
        try:
            yield
        except BaseException as error:
            kind = "adapter" if isinstance(error, BatchError) else kind
            if isinstance(error, codecs.ElsewhereError) and error.__cause__ is not None:
                error, kind = error.__cause__, "raised"
            raise _FailedError(fault_of(error, at, self.own, kind)) from error
