"""The stateful machine: histories drawn rule by rule, each a case like any other.

The rules only append steps; :mod:`~midepoch_conformance.case.history` decides which steps may be
asked. The case is played and judged once it is whole, so it is stored, shrunk, replayed and
scripted in the same way as the cases of the tables.
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
"""The most rules of a history; some rules append several steps."""

SESSIONS, SESSIONS_WITH_WORKERS = 5, 4
"""The most sessions of a history: each is one process, or several with workers."""

ODDITIES = 3
"""The most unusual rules among them, such as a load of a value that is no state."""

_RUN, _RUNS = 9, 1_000_000
"""The histories of one run of Hypothesis, and the most runs of one seed.

After the first ten histories of a run, Hypothesis would mostly vary earlier ones."""


class HistoryMachine(RuleBasedStateMachine):
    """Appends steps and sessions to a history of a loader that offers ``offer``."""

    offer: ClassVar[Offer] = Offer()
    """The loader's offer."""
    multi: ClassVar[bool] = False
    """Whether sessions have workers."""
    found: ClassVar[dict[str, Case]] = {}
    """The histories by their ids."""

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
        """Finish the history, and keep it if it is sound and offered."""
        if not self.sessions:
            return
        self._finish()
        workload = dataclasses.replace(self.workload, epochs=self.course.epochs)
        case = Case(HISTORY, workload, tuple(self.sessions))
        if objection(case) is None and reason_not_offered(case, self.offer) is None:
            self.found.setdefault(case.id, case)

    def _finish(self) -> None:
        """Continue from the newest state by resuming again, and drain until every fault shows."""
        if self.course.stale:
            self._step(Step("break"))
        for count, breaks in self.links:
            if self._has_room():
                self._link(count, breaks)
        # An empty remainder of an epoch, or an error, counts as one drained epoch.
        for _ in range(2 if self.course.mark.sure else 4 if self.course.faulty else 3):
            self._drain()

    def _link(self, count: int, breaks: bool) -> None:
        """Deliver a few batches, save and resume; from an older state if none can be saved.

        With ``breaks`` the state is saved in the next epoch.
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

    # The parts of the rules.

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
        """Deliver this many batches, or the ones that are left."""
        delivery = self._delivery("take", min(count, self.course.left))
        if delivery.n and self.course.objection(delivery) is None:
            self._step(delivery)

    def _fresh(self) -> str:
        self.names += 1
        return f"s{self.names - 1}"

    def _some_state(self, data: st.DataObject) -> str:
        # The newest state comes first, because most programs continue with it.
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
        """Deliver the batches that are left, without asking for the end."""
        self._ruled(self._delivery("take", -1))

    @precondition(lambda self: self._may(self._delivery("drain")) and self._early())
    @rule()
    def finish(self) -> None:
        """Finish the epoch."""
        self._ruled(self._delivery("drain"))

    @precondition(lambda self: self.rules_left > 0 and self._may_break())
    @rule(data=st.data())
    def break_off(self, data: st.DataObject) -> None:
        """Drop the epoch, beginning one first if none is open, and continue with the next."""
        if not self.course.moved:
            self._step(self._delivery("take", 1))
        self._ruled(Step("break"))
        self._some_batches(data)

    def _early(self) -> bool:
        """Return whether enough epochs are left to show the history's position."""
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
        """Make an iterator and drop it untouched."""
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
        """Encode a state that was held while the loader continued."""
        held = [n for n in self.course.objects if self._may(Step("seal", state=n, into="?"))]
        name = data.draw(st.sampled_from(held[::-1]), "state")
        self._ruled(Step("seal", state=name, into=self._fresh()))

    @precondition(lambda self: self._any(self.course.objects, "edit"))
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        """Change a state that was saved or loaded, in place."""
        name = data.draw(st.sampled_from(list(self.course.objects)[::-1]), "state")
        self._ruled(Step("edit", state=name))

    @precondition(
        lambda self: len(self.offer.codecs) > 1 and self._any(self.course.states, "recode")
    )
    @rule(data=st.data())
    def recode(self, data: st.DataObject) -> None:
        """Convert a state to another codec."""
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
        """Load into a loader whose iterator is live, and drop the iterator."""
        self._ruled(Step("load", state=self._some_state(data)), Step("break"))
        self._go_on(data)

    @precondition(lambda self: self._may_oddly(Step("load_bogus", tolerate=True)))
    @rule(value=st.sampled_from(BOGUS))
    def load_nothing(self, value: str) -> None:
        """Load a value that is no state, catch the error and continue."""
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
        """Resume in a new process, perhaps with another execution."""
        self.rules_left -= 1
        self._session(self._next_execution(data))
        self._step(Step("load", state=self._some_state(data)))
        self._go_on(data)

    @precondition(lambda self: self._may_resume() and self._may(Step("kill")))
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        """Kill the process, and resume in a new one."""
        self._step(Step("kill"))
        self.resume(data)

    @precondition(lambda self: self.multi and self._may_resume() and self.workload.n > 2)
    @rule(data=st.data())
    def lose_a_worker(self, data: st.DataObject) -> None:
        """Resume, lose a worker to a sample, perhaps save, and resume once more."""
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
        """Do nothing: most histories are shorter than the limit."""

    def _any(self, names: Any, do: str) -> bool:
        into = "?" if do in ("seal", "recode") else ""
        return any(self._may(Step(do, state=name, into=into)) for name in names)


def draw_histories(offer: Offer, count: int, seeded: int, multi: bool = False) -> list[Case]:
    """Return up to ``count`` different histories, the same for the same seed.

    With ``multi``, at least some sessions have workers; otherwise none has.

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
            # They check how fast cases are drawn; the cases may not depend on the machine.
            suppress_health_check=list(HealthCheck),
        ),
    )
