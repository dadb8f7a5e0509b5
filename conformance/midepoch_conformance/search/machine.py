"""The stateful machine: histories drawn rule by rule, each a case like any other.

The rules only append steps; what may be asked when is :mod:`~midepoch_conformance.case.history`'.
The case is played and judged when it is whole, so that it is stored, shrunk, replayed and
scripted as the cases of the tables are.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.history import MOST_EPOCHS, Course, objection, remembers
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.draws import executions, laned, normal, workloads

__all__ = ["HistoryMachine", "draw_histories"]

RULES = 12
"""Rules that a history is made of at most; some append several steps."""

SESSIONS, SESSIONS_WITH_WORKERS = 5, 4
"""Sessions that a history has at most: each is a process, and with workers several."""

ODDITIES = 3
"""Rules among them that few programs follow, such as a load of what is no state."""

_RUN, _RUNS = 9, 1_000_000
"""Histories of one run of Hypothesis, and runs of one seed at most: after the first ten of a run
it would mostly vary what it has drawn before."""


class HistoryMachine(RuleBasedStateMachine):
    """Appends steps and sessions to a history of a loader that offers ``offer``.

    Attributes:
        offer: what the loader can do.
        multi: whether sessions have workers.
        found: where the histories go, by their ids.
    """

    offer: ClassVar[Offer] = Offer()
    multi: ClassVar[bool] = False
    found: ClassVar[dict[str, Case]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[SessionPlan] = []
        self.names = 0

    # The beginning and the end.

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Draw the workload and the first session's execution."""
        self.workload = data.draw(workloads(self.offer), "workload")
        self.course = Course(self.workload)
        self.rules_left = data.draw(st.sampled_from((4, 8, RULES, RULES)), "rules")
        self.oddities = data.draw(st.integers(0, ODDITIES), "oddities")
        link = st.tuples(st.integers(0, 3), st.booleans())
        self.links = data.draw(st.lists(link, min_size=1, max_size=2), "links")
        execution = data.draw(executions(self.offer, self.multi, None), "execution")
        self._session(laned(execution, self.workload, self.offer, data))

    def teardown(self) -> None:
        """Finish the history and keep it, if it is sound and offered."""
        if not self.sessions:
            return
        self._finish()
        workload = dataclasses.replace(self.workload, epochs=self.course.epochs)
        case = Case(HISTORY, workload, tuple(self.sessions))
        if objection(case) is None and reason_not_offered(case, self.offer) is None:
            self.found.setdefault(case.id, case)

    def _finish(self) -> None:
        """Go on from the newest state, in a chain of resumes, and drain to where all shows."""
        if self.course.stale:
            self._step(Step("break"))
        for count, breaks in self.links:
            if self._has_room():
                self._link(count, breaks)
        # An empty rest, or an error on the way, takes the place of an epoch.
        for _ in range(2 if self.course.mark.sure else 4 if self.course.faulty else 3):
            self._drain()

    def _link(self, count: int, breaks: bool) -> None:
        """Deliver a few batches, save and resume; from an older state where none can be taken.

        ``breaks``: it is the next epoch in which the state is taken.
        """
        if self.course.broke:
            self._drain()
        self._take(count)
        if breaks and self.course.moved and self._may_break():
            self._step(Step("break"))
            self._take(1)
        saving = self._saving("?")
        if not self.course.dying and self.course.objection(saving) is None:
            self._step(self._saving(self._fresh()))
        self._session(self.sessions[-1].execution)
        if self.course.states:
            self._step(Step("load", state=list(self.course.states)[-1]))

    def _drain(self) -> None:
        if self.course.objection(self._delivery("drain")) is None:
            self._step(self._delivery("drain"))

    # What the rules are made of.

    def _session(self, execution: Execution, **workload: Any) -> None:
        number = len(self.sessions)
        changed = tuple(workload.items())
        plan = SessionPlan(execution, (), 1 + 100 * number, "ab"[number % 2], changed)
        self.sessions.append(plan)
        self.course.begin(dataclasses.replace(self.workload, **workload), plan)

    def _step(self, *steps: Step) -> None:
        for step in steps:
            self.course.follow(step)
        plan = self.sessions[-1]
        self.sessions[-1] = dataclasses.replace(plan, steps=(*plan.steps, *steps))

    def _delivery(self, do: str, n: int = 0) -> Step:
        return Step(do, n, tolerate=self.course.faulty)

    def _may(self, step: Step) -> bool:
        return self.rules_left > 0 and self.course.objection(step) is None

    def _may_oddly(self, step: Step) -> bool:
        return self.oddities > 0 and self._may(step)

    def _may_resume(self) -> bool:
        return self.rules_left > 0 and self._has_room() and bool(self.course.states)

    def _has_room(self) -> bool:
        return len(self.sessions) < (SESSIONS_WITH_WORKERS if self.multi else SESSIONS)

    def _ruled(self, *steps: Step) -> None:
        self.rules_left -= 1
        self._step(*steps)

    def _oddly(self, *steps: Step) -> None:
        self.oddities -= 1
        self._ruled(*steps)

    def _go_on(self, data: st.DataObject) -> None:
        """Deliver some batches, or none, or some of one epoch and some of the next."""
        self._some_batches(data)
        if self.course.moved and self._may_break() and data.draw(st.integers(0, 2), "break") == 2:
            self._step(Step("break"))
            self._some_batches(data)

    def _some_batches(self, data: st.DataObject) -> None:
        self._take(data.draw(st.integers(0, min(4, self.course.left)), "batches"))

    def _take(self, count: int) -> None:
        """Deliver so many batches if there are as many, else what there is."""
        delivery = self._delivery("take", min(count, self.course.left))
        if delivery.n and self.course.objection(delivery) is None:
            self._step(delivery)

    def _fresh(self) -> str:
        self.names += 1
        return f"s{self.names - 1}"

    def _some_state(self, data: st.DataObject) -> str:
        # The newest first: most programs go on with that one.
        return str(data.draw(st.sampled_from(list(self.course.states)[::-1]), "state"))

    def _some_codec(self, data: st.DataObject) -> str:
        return str(data.draw(st.sampled_from(("", *self.offer.codecs)), "codec"))

    def _next_execution(self, data: st.DataObject) -> Execution:
        base = self.sessions[-1].execution
        if not data.draw(st.booleans(), "changed"):
            return base
        changed = data.draw(executions(self.offer, self.multi, base), "execution")
        if self.workload.kind not in self.offer.fixed_plan:
            changed = dataclasses.replace(changed, workers=base.workers)
        return normal(changed)

    # The rules.

    @precondition(lambda self: self._may(self._delivery("take", 1)))
    @rule()
    def one(self) -> None:
        """Deliver the next batch."""
        self._ruled(self._delivery("take", 1))

    @precondition(lambda self: self._may(self._delivery("take", 2)))
    @rule(data=st.data())
    def several(self, data: st.DataObject) -> None:
        """Deliver several batches."""
        n = data.draw(st.integers(2, min(5, self.course.left)), "batches")
        self._ruled(self._delivery("take", n))

    @precondition(lambda self: self._may(self._delivery("take", -1)))
    @rule()
    def up_to_the_end(self) -> None:
        """Deliver what is left, without asking for the end."""
        self._ruled(self._delivery("take", -1))

    @precondition(lambda self: self._may(self._delivery("drain")) and self._early())
    @rule()
    def finish(self) -> None:
        """Finish the epoch."""
        self._ruled(self._delivery("drain"))

    @precondition(lambda self: self.rules_left > 0 and self._may_break())
    @rule(data=st.data())
    def break_off(self, data: st.DataObject) -> None:
        """Drop an epoch, begun now if none is, and go on with the next."""
        if not self.course.moved:
            self._step(self._delivery("take", 1))
        self._ruled(Step("break"))
        self._some_batches(data)

    def _early(self) -> bool:
        """Return whether the epochs that are left are enough to see where a history stands."""
        return self.course.mark.epoch + 3 < MOST_EPOCHS

    def _may_break(self) -> bool:
        free = not self.workload.draws or "midepoch" in self.offer.formats
        if not free or self.offer.boundary == "stream" or not self._early():
            return False
        if self.course.moved:
            return self.course.objection(Step("break")) is None
        forgets = not remembers(self.workload) and not self.course.faulty
        return forgets and self.course.objection(self._delivery("take", 1)) is None

    @precondition(
        lambda self: "midepoch" in self.offer.formats and self._may_oddly(self._delivery("take", 0))
    )
    @rule()
    def look(self) -> None:
        """Make an iterator, take nothing of it and drop it."""
        self._oddly(self._delivery("take", 0), Step("break"))

    @precondition(lambda self: self._may(self._saving("")) and not self._just_saved())
    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        """Take a state."""
        self._ruled(dataclasses.replace(self._saving(self._fresh()), codec=self._some_codec(data)))

    def _just_saved(self) -> bool:
        steps = self.sessions[-1].steps
        return bool(steps) and steps[-1].do == "save"

    def _saving(self, name: str) -> Step:
        return Step("save", state=name, tolerate=self.course.dying)

    @precondition(lambda self: self._any(self.course.objects, "seal"))
    @rule(data=st.data())
    def encode_late(self, data: st.DataObject) -> None:
        """Encode a state that was held while the loader went on."""
        held = [n for n in self.course.objects if self._may(Step("seal", state=n, into="?"))]
        name = data.draw(st.sampled_from(held[::-1]), "state")
        self._ruled(Step("seal", state=name, into=self._fresh()))

    @precondition(lambda self: self._any(self.course.objects, "edit"))
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        """Change a state that was handed out, or one that was handed in."""
        name = data.draw(st.sampled_from(list(self.course.objects)[::-1]), "state")
        self._ruled(Step("edit", state=name))

    @precondition(
        lambda self: len(self.offer.codecs) > 1 and self._any(self.course.states, "recode")
    )
    @rule(data=st.data())
    def recode(self, data: st.DataObject) -> None:
        """Put a state through another codec."""
        codec = data.draw(st.sampled_from(self.offer.codecs), "codec")
        name = self._some_state(data)
        self._ruled(Step("recode", state=name, into=self._fresh(), codec=codec))

    @precondition(lambda self: not self.course.open and self._any(self.course.states, "load"))
    @rule(data=st.data())
    def load_here(self, data: st.DataObject) -> None:
        """Load into the same loader."""
        self._ruled(Step("load", state=self._some_state(data)))
        self._go_on(data)

    @precondition(lambda self: self.course.open and self._any(self.course.states, "load"))
    @precondition(lambda self: self.offer.boundary != "stream")
    @rule(data=st.data())
    def load_while_iterating(self, data: st.DataObject) -> None:
        """Load into a loader whose iterator is live, and drop that."""
        self._ruled(Step("load", state=self._some_state(data)), Step("break"))
        self._go_on(data)

    @precondition(lambda self: self._may_oddly(Step("load_bogus", tolerate=True)))
    @rule(value=st.sampled_from(BOGUS))
    def load_nothing(self, value: str) -> None:
        """Catch the error of a load of what is no state, and go on."""
        self._oddly(Step("load_bogus", value=value, tolerate=True))

    @precondition(lambda self: self._may_oddly(Step("close")))
    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        """Open a new loader in the same process, and mostly load."""
        self._oddly(Step("close"), Step("open"))
        if self.course.states and data.draw(st.sampled_from((True, True, False)), "load"):
            self._step(Step("load", state=self._some_state(data)))

    @precondition(lambda self: self._may(self._saving("?")))
    @precondition(lambda self: self._has_room())
    @rule(data=st.data())
    def save_and_resume(self, data: st.DataObject) -> None:
        """Take a state a little later and resume with it in a new process."""
        self._go_on(data)
        self.save(data)
        self._session(self._next_execution(data))
        self._step(Step("load", state=list(self.course.states)[-1]))
        self._go_on(data)

    @precondition(lambda self: self._may_resume())
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        """Resume in a new process, under another execution maybe."""
        self.rules_left -= 1
        self._session(self._next_execution(data))
        self._step(Step("load", state=self._some_state(data)))
        self._go_on(data)

    @precondition(lambda self: self._may_resume() and self._may(Step("kill")))
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        """Be killed, and resume in a new process."""
        self._step(Step("kill"))
        self.resume(data)

    @precondition(lambda self: self.multi and self._may_resume() and self.workload.n > 2)
    @rule(data=st.data())
    def lose_a_worker(self, data: st.DataObject) -> None:
        """Resume, lose a worker to a sample, maybe save then, and resume once more."""
        self.rules_left -= 1
        execution = self._next_execution(data)
        if not execution.workers:
            execution = self.sessions[0].execution
        if not execution.workers:
            return
        # A thread cannot be killed.
        execution = dataclasses.replace(execution, worker_kind="process")
        sample = data.draw(st.integers(0, self.workload.n - 1), "sample")
        self._session(execution, die_at=sample)
        self._step(Step("load", state=self._some_state(data)))
        if self._may(self._delivery("take", 1)) and data.draw(st.booleans(), "first"):
            self._step(self._delivery("take", 1))
        if self._may(self._delivery("drain")):
            self._step(self._delivery("drain"))
        if data.draw(st.booleans(), "save"):
            self._step(self._saving(self._fresh()))
        self._session(self._next_execution(data))
        self._step(Step("load", state=self._some_state(data)))

    @precondition(lambda self: self.rules_left <= 0 or not self._early())
    @rule()
    def rest(self) -> None:
        """Do nothing: most histories are shorter than they may be."""

    def _any(self, names: Any, do: str) -> bool:
        into = "?" if do in ("seal", "recode") else ""
        return any(self._may(Step(do, state=name, into=into)) for name in names)


def draw_histories(offer: Offer, count: int, seeded: int, multi: bool = False) -> list[Case]:
    """Return up to ``count`` different histories, the same for the same seed.

    ``multi``: with workers, in some sessions at least; else without any.

    Example:
        >>> drawn = draw_histories(Offer(), 5, seeded=1)
        >>> {case.probe for case in drawn}
        {'history'}
    """
    found: dict[str, Case] = {}
    for number in range(count):
        _draw(offer, seeded * _RUNS + number, multi, found)
        if len(found) >= count:
            break
    return list(found.values())[:count]


def _draw(offer: Offer, seeded: int, multi: bool, found: dict[str, Case]) -> None:
    drawn = type("Drawn", (HistoryMachine,), {"offer": offer, "multi": multi, "found": found})
    run_state_machine_as_test(
        seed(seeded)(drawn),
        settings=settings(
            max_examples=_RUN,
            stateful_step_count=RULES,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            derandomize=False,
            # They look at how fast cases are drawn; what is drawn may not depend on the machine.
            suppress_health_check=list(HealthCheck),
        ),
    )
