"""Draws one history: a chain of resumes, each from a state that was saved somewhere (pure).

:mod:`~midepoch_conformance.case.history` decides which steps may be asked.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.data.sources import SOURCES, Positions
from midepoch_conformance.case.history import MOST_EPOCHS, Course, dies, objection
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.facts.resumes import in_order, offered_values
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.draws import (
    MAPS,
    Chance,
    Unplayable,
    Wishes,
    changed_execution,
    first_execution,
    some_codec,
    with_slow_samples,
    workload,
)

__all__ = ["MOST_RESUMES", "draw_history"]

MOST_RESUMES, WITH_WORKERS = 6, 4
"""The most resumes of a history; fewer with workers, which cost a hundred times as much."""

_BREAK, _CLOSE, _OPEN, _KILL = Step("break"), Step("close"), Step("open"), Step("kill")
_LOSE = Step("lose")


def draw_history(chance: Chance, offer: Offer, multi: bool, wishes: Wishes | None = None) -> Case:
    """Draw a history; with ``multi``, some of its sessions have workers, otherwise none has.

    ``wishes`` are values that one of its resumes shall have on some axes.

    Raises:
        Unplayable: what was drawn is not offered or not sound, or the wishes cannot be met.

    Example:
        >>> case = draw_history(Chance("an example"), Offer(), multi=False)
        >>> case.probe, objection(case)
        ('history', None)
    """
    case = _Chain(chance, offer, multi, wishes or {}).case()
    words = objection(case) or reason_not_offered(case, offer)
    if words is not None:
        raise Unplayable(words)
    return case


class _Chain:
    """A history that is being drawn: its sessions, and the position after their steps."""

    def __init__(self, chance: Chance, offer: Offer, multi: bool, wishes: Wishes) -> None:
        self.chance, self.offer, self.multi, self.wishes = chance, offer, multi, wishes
        self.workload = workload(chance, offer, wishes)
        if multi:
            self.workload = with_slow_samples(chance.apart(), self.workload)
        self.course = Course(self.workload)
        self.sessions: list[SessionPlan] = []
        self.names = 0
        self.values = offered_values(offer)
        counting = "named epochs" in offer.extras and not self.workload.sets_epoch
        self.names_epochs = counting and not self.workload.grow and chance.apart().often(0.2)

    def case(self) -> Case:
        """Draw the sessions and return the history."""
        base = first_execution(self.chance, self.offer, self.workload, self.multi, self.wishes)
        self._session(base)
        counts = (1, 2, 3, WITH_WORKERS) if self.multi else (1, 2, 2, 3, 3, 4, 5, MOST_RESUMES)
        most = int(self.wishes.get("resumes") or self.chance.one(counts))
        for number in range(most):
            last = number == most - 1
            self._link(*(self._of_link(axis, last) for axis in ("saved", "ended")))
        self._finish()
        epochs = dataclasses.replace(self.workload, epochs=self.course.epochs)
        return Case(HISTORY, epochs, tuple(self.sessions))

    def _of_link(self, axis: str, last: bool) -> str:
        if last and axis in self.wishes:
            return str(self.wishes[axis])
        # Frameworks take seconds to see that a worker is lost: once in a history is enough.
        lost = any(
            dies(dataclasses.replace(self.workload, **dict(plan.workload)))
            for plan in self.sessions
        )
        impossible = {"worker lost"} if lost or not self.multi else set()
        impossible.add("at once" if self.course.fresh else "start")
        possible = [value for value in self.values[axis] if value not in impossible]
        if not possible:
            raise Unplayable("no state can be taken here")
        return str(self.chance.one(possible))

    # The parts of a chain.

    def _link(self, saved: str, ended: str) -> None:
        """Save somewhere, leave in some way, and load."""
        self._go_to(saved)
        name = self._save()
        if self.chance.often(0.3):
            self._oddity()
        self._lose()
        if self.chance.often(0.5):
            self._some_batches()
        if self.chance.often(0.25):
            name = self._derived(name)
        if self.chance.often(0.2) and self._may(_BREAK) and self._may_break():
            self._steps(_BREAK)
            self._some_batches()
        if self.chance.often(0.15):
            name = self.chance.one(list(self.course.states))
        self._leave(ended, name)

    def _go_to(self, saved: str) -> None:
        """Deliver until the place at which a state shall be saved."""
        if saved == "at once":
            if self.course.fresh:
                raise Unplayable("nothing was loaded before")
            return
        if saved == "start":
            if self.course.mark.epoch or self.course.mark.done or self.course.open:
                raise Unplayable("only a run that begins is before its first batch")
            return
        for _ in range(self.chance.one((0, 0, 0, 1, 1, 2))):
            if self._early():
                self._drain()
        if saved == "after the end":
            self._drain(asked=True)
            return
        left = self.course.left
        wanted = {"first": 1, "middle": left // 2, "last": left - 1, "end": -1}[saved]
        if saved == "first" and self.course.mark.done and self._early():
            self._drain()
        delivery = self._delivery("take", wanted)
        if left and wanted and (self._may(delivery) or "saved" in self.wishes):
            self._steps(delivery)
        elif "saved" in self.wishes:
            raise Unplayable("the epoch is too short")

    def _save(self) -> str:
        codec = some_codec(self.chance, self.offer)
        step = Step("save", state=self._fresh(), codec=codec, tolerate=self.course.dying)
        self._steps(step)
        return step.state

    def _derived(self, name: str) -> str:
        """Return a state made of another one: encoded later, or again by another codec."""
        if self.chance.often(0.5):
            step = Step("seal", state=name, into=self._fresh())
        else:
            codec = self.chance.one(self.offer.codecs)
            step = Step("recode", state=name, into=self._fresh(), codec=codec)
        if not self._may(step):
            return name
        self._steps(step)
        return step.into

    def _leave(self, ended: str, name: str) -> None:
        """Leave the run in some way, and load a state."""
        load = Step("load", state=name)
        if ended in ("error", "worker lost"):
            self._fail(ended, load)
        if ended == "interrupted":
            load = Step("load", state=self._interrupted(name))
        if ended in ("stopped", "killed", "closed", "error", "interrupted", "worker lost"):
            self._steps(*{"killed": (_KILL,), "closed": (_CLOSE,)}.get(ended, ()))
            self._resuming()
        elif ended == "reopened":
            self._steps(_CLOSE, _OPEN)
        elif ended == "in place":
            if self.course.open:
                self._drain(asked=True)
        elif not self.course.moved or not self.course.open:
            self._steps(self._delivery("take", 1))
        self._steps(load)
        if self.course.stale:
            self._steps(_BREAK)
        if self.chance.often(0.15):
            self._oddity()

    def _resuming(self) -> None:
        """Begin a session that loads a state at once: what it needs may come from there."""
        x, changed = self._next_execution(), dict[str, Any]()
        if "adoption" in self.offer.extras and self.chance.often(0.15):
            changed["adopts"] = True
        processes = x.workers and x.worker_kind == "process" and "restarts" in self.offer.extras
        # Where the dataset cannot tell its state, a lost worker cannot be replaced.
        if processes and self.workload.n and not self.workload.unsaved and self.chance.often(0.3):
            x = dataclasses.replace(x, restarts=3)
            if self.chance.often(0.5):
                changed |= {"die_at": self.chance.below(self.workload.n), "die_once": True}
                changed["log"] = "auto"
                if _tells(self.workload) and self.chance.often(0.5):
                    changed["dies_again"] = True
        self._session(x, **changed)

    def _fail(self, ended: str, load: Step) -> None:
        """Resume, and meet a sample that raises or kills its worker."""
        sample, x = self._faulty_sample(load.state), self._next_execution()
        fields = ("fail_at", "stop_at") if self.workload.kind in MAPS else ("fail_at",)
        field = self.chance.one(fields) if ended == "error" else "die_at"
        if field == "die_at":
            if not x.workers:
                raise Unplayable("a worker that is lost needs workers")
            x = dataclasses.replace(x, worker_kind="process")  # a thread cannot be killed
        self._session(x, **{field: sample})
        self._steps(load)
        if field != "die_at" and self.chance.often(0.3):
            self._save()
        for _ in range(1 + (field != "die_at" and self.chance.often(0.3))):
            if self.course.spent:
                # The same loader is loaded again after the error.
                self._steps(load, *((_BREAK,) if self.course.open else ()))
            count = min(self.course.left, 1 + self.chance.below(3))
            do = self.chance.one(("drain", "take")) if count else "drain"
            self._steps(self._delivery(do, count if do == "take" else 0))

    def _interrupted(self, name: str) -> str:
        """Resume, be interrupted while a sample is made, and go on; return the state to load."""
        sample = self._faulty_sample(name)
        self._session(self._next_execution(), interrupt_at=sample, log="auto")
        self._steps(Step("load", state=name))
        for _ in range(1 + self.chance.below(3)):
            # A drain stops at the interrupt, if it comes.
            self._drain() if self.chance.often(0.6) else self._some_batches()
            if "saved" not in self.wishes and self.chance.often(0.6):
                name = self._save()
        return name

    def _faulty_sample(self, name: str) -> int:
        """Return a sample that comes after a state; often one of the first batch."""
        w = self.workload
        if w.fail_at is not None or not w.n:
            raise Unplayable("a sample raises in all sessions already, or there is none")
        if not in_order(w):
            return self.chance.below(w.n)
        size = w.batch_size or 1
        first = min(self.course.states[name].done * size, w.n - 1)
        ahead = w.n - first
        return first + self.chance.below(min(size, ahead) if self.chance.often(0.5) else ahead)

    def _finish(self) -> None:
        """Deliver until every fault shows."""
        if self.chance.often(0.5):
            self._some_batches()
        if self.chance.often(0.35):
            self._oddity()
        # An empty remainder of an epoch, or an error, counts as one drained epoch.
        for _ in range(2 if self.course.mark.sure else 4 if self.course.faulty else 3):
            self._drain()
            self._lose()

    def _lose(self) -> None:
        """Let a worker die here, if it would be replaced."""
        if self._may(_LOSE) and self.chance.often(0.5):
            self._steps(_LOSE)

    def _oddity(self) -> None:
        """Do something that runs seldom do, if anything of the kind may be done here."""
        untouched = (self._delivery("take", 0), _BREAK)
        states = [Step("edit", state=name) for name in self.course.objects]
        known: list[tuple[Step, ...]] = [(step,) for step in states]
        if "beside" in self.offer.extras:
            known.append((Step("beside", 1 + self.chance.below(3)),))
        # Seldom: nothing more is judged of a loader that takes such a value.
        if self.chance.often(0.3):
            known.append((Step("load_bogus", value=self.chance.one(BOGUS), tolerate=True),))
        if "midepoch" in self.offer.formats:
            known.append(untouched)
        if self._may_break():
            known.append((_BREAK,))
        possible = [steps for steps in known if self._may(steps[0])]
        if possible:
            self._steps(*self.chance.one(possible))

    # The pieces of these parts.

    def _session(self, execution: Execution, **workload: Any) -> None:
        number = len(self.sessions)
        changed = tuple(workload.items())
        plan = SessionPlan(execution, (), 1 + 100 * number, "ab"[number % 2], changed)
        self.sessions.append(plan)
        self.course.begin(dataclasses.replace(self.workload, **workload), plan)

    def _steps(self, *steps: Step) -> None:
        for step in steps:
            words = self.course.objection(step)
            if words is not None:
                raise Unplayable(words)
            self.course.follow(step)
            plan = self.sessions[-1]
            self.sessions[-1] = dataclasses.replace(plan, steps=(*plan.steps, step))

    def _may(self, step: Step) -> bool:
        return self.course.objection(step) is None

    def _may_break(self) -> bool:
        free = not self.workload.draws or "midepoch" in self.offer.formats
        return free and self.offer.boundary != "stream" and self._early()

    def _early(self) -> bool:
        """Return whether enough epochs are left to show the history's position."""
        return self.course.mark.epoch + 3 < MOST_EPOCHS

    def _delivery(self, do: str, n: int = 0) -> Step:
        return Step(do, n, tolerate=self.course.faulty)

    def _drain(self, asked: bool = False) -> None:
        again = "asked again" in self.offer.extras and self.chance.often(0.15)
        drain = self._delivery("drain", int(again))
        if asked or self._may(drain):
            self._steps(drain)
            named = Step("name_epoch", n=self.course.mark.epoch)
            if self.names_epochs and self._may(named):
                self._steps(named)

    def _some_batches(self) -> None:
        count = min(self.course.left, 1 + self.chance.below(4))
        if count and self._may(self._delivery("take", count)):
            self._steps(self._delivery("take", count))

    def _fresh(self) -> str:
        self.names += 1
        return f"s{self.names - 1}"

    def _next_execution(self) -> Execution:
        before = dataclasses.replace(self.sessions[-1].execution, restarts=0)
        if self.chance.often(0.5) or (len(self.wishes) > 1 and not self.multi):
            return before
        chance, offer, w = self.chance, self.offer, self.workload
        return changed_execution(chance, offer, w, before, self.multi, self.wishes)


def _tells(w: Workload) -> bool:
    """Return whether the dataset notices that its state is loaded: ``Workload.dies_again``."""
    return w.kind.startswith("stateful") and SOURCES.get(w.stream) is Positions
