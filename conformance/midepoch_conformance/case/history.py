"""The rules of histories: which steps may be asked, and the position after each step (pure).

A history is sound if the specification leaves one answer to everything that it asks. It asks
nothing that loaders may do either way: a state between a break and the next batch, batches of an
iterator that a load made stale, or the position after an error in an epoch that is then left. After
an interrupt the specification leaves one answer: the batches that were not delivered.
"""

from __future__ import annotations

import dataclasses
import itertools

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload

__all__ = [
    "FAULTS",
    "MOST_EPOCHS",
    "Course",
    "Mark",
    "dies",
    "fails",
    "faulty",
    "first_objection",
    "objection",
    "one_plan",
    "remembers",
    "strict",
]

MOST_EPOCHS = 6
"""The epochs that a history may reach; the uninterrupted run has at most as many."""

_MOVES = ("take", "drain")
_RAISES = ("fail_at", "stop_at")
FAULTS = (*_RAISES, "die_at", "interrupt_at")
"""The fields of a workload that make a sample a fault."""
_MAKES = ("save", "seal", "recode")
_SEEDED = (*_MOVES, "save")


@dataclasses.dataclass(frozen=True)
class Mark:
    """A position: ``done`` batches of epoch ``epoch``."""

    epoch: int = 0
    """The epoch, or an earlier one if the position is not sure."""
    done: int = 0
    """The batches delivered in it."""
    sure: bool = True
    """Whether every loader has this position. It is not sure after an error or an interrupt, whose
    batch this model does not know. Nor is it after the rest of an epoch whose end was not seen:
    loaders may deliver that as an empty epoch or not at all."""
    frail: bool = False
    """Whether it was saved while a worker died: a loader may refuse such a state."""


class Course:
    """The position of a history while its steps are taken.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> course = Course(Workload(n=6, batch_size=2))
        >>> course.begin(course.workload, SessionPlan(Execution(), ()))
        >>> course.follow(Step("take", 2))
        >>> course.mark
        Mark(epoch=0, done=2, sure=True, frail=False)
        >>> course.objection(Step("take", 2))
        'the epoch has 1 left'

    Args:
        workload: the history's workload.
        told: whether another session of the case tells what follows an epoch that is left.
    """

    def __init__(self, workload: Workload, told: bool = False) -> None:
        self.workload, self.told = workload, told
        self.states: dict[str, Mark] = {}
        self.epochs = 1
        self.over = True
        self.first: Execution | None = None
        self.cut = False  # snapshots lie apart, so resumes replay what lies between

    def begin(self, workload: Workload, plan: SessionPlan) -> None:
        """Begin a session that sees ``workload``."""
        self.seen, self.execution = workload, plan.execution
        self.first = self.first or plan.execution
        self.dying = dies(workload)
        self.faulty = fails(workload)
        # A sample raises in this session alone: the uninterrupted run has no such error.
        self.failing = any(
            getattr(workload, name) != getattr(self.workload, name) for name in _RAISES
        )
        self.cut = self.cut or plan.execution.interval != 1
        # The workers that were lost.
        self.lost = int(workload.die_once) + int(workload.dies_again)
        self._lengths: dict[int, int] = {}
        # For each state object of this session, whether it is unchanged since it was saved.
        self.objects: dict[str, bool] = {}
        self._anew()

    def _anew(self) -> None:
        self.mark = Mark(sure=not self.faulty or self.failing)
        self.spent = False  # a sample may have raised that raises in this session alone
        self.open = False  # an epoch is being iterated
        self.moved = False  # its iterator has delivered
        self.stale = False  # a load made it stale
        self.broke = False  # an epoch was dropped, and no step came after it
        self.fresh = True  # nothing was loaded
        self.since: int | None = None  # the batches since a load within this epoch
        self.seedless = self.seen.adopts  # it draws a seed of its own
        self.closed = self.over = False

    @property
    def left(self) -> int:
        """Return the number of batches that the epoch has left, in most loaders."""
        return max(0, self._length(self.mark.epoch) - self.mark.done)

    def _length(self, epoch: int) -> int:
        if epoch not in self._lengths:
            self._lengths[epoch] = usual_length(self.seen, self.execution, epoch)
        return self._lengths[epoch]

    def objection(self, step: Step) -> str | None:
        """Return why ``step`` may not be asked here, or None if it may."""
        if self.over:
            return "the session is over"
        if self.closed != (step.do == "open"):
            return "the session is closed" if self.closed else "the session is open"
        if self.stale and step.do not in ("break", "close", "kill"):
            return "the loader decides what a stale iterator does"
        if self.seedless and step.do in _SEEDED:
            return "a loader without a seed is like no other before it loads one"
        if self.spent and step.do not in ("load", "break", "close", "kill"):
            return "only a load tells where a session is after an error that is its own"
        if step.do in _MAKES and _made(step) in self.states:
            return "a state of that name exists"
        if step.do in ("load", "recode", "seal", "edit") and step.state not in self.states:
            return "no such state exists"
        asked = getattr(self, f"_ask_{step.do}", None)
        if asked is None:
            return f"{step.do} is not part of histories" if step.do not in _FREE else None
        found: str | None = asked(step)
        return found

    def _ask_take(self, step: Step) -> str | None:
        if step.n == -1 and not (self.mark.sure and self.left):
            return "it is not sure how much is left"
        if step.n > self.left:
            return f"the epoch has {self.left} left"
        if step.n == 0 and (self.open or (self.broke and not self.told) or self.faulty):
            return "an iterator may be made and left alone only if there is no other"
        if step.n < -1:
            return "no such number of batches"
        return self._ask_delivery(step)

    def _ask_drain(self, step: Step) -> str | None:
        if self.mark.epoch + 1 >= MOST_EPOCHS:
            return "the history would reach too many epochs"
        return self._ask_delivery(step)

    def _ask_delivery(self, step: Step) -> str | None:
        if step.tolerate != self.faulty:
            return "errors are tolerated only where they are made on purpose"
        if self.failing and self._replays():
            return "a replay may meet the sample, and leaves out what raises"
        return self._ask_beginning()

    def _replays(self) -> bool:
        """Return whether a resume may fetch samples again that were delivered before it."""
        if self.workload.kind == "map":
            return False
        if self.workload.kind == "iterable" or self.workload.stream == "rewinding":
            return self.mark.done > 0
        return self.cut

    def _ask_beginning(self) -> str | None:
        """Return why a run may not begin here with this execution."""
        first = self.first or self.execution
        if self.fresh and remembers(self.workload) and _lasts(self.execution) != _lasts(first):
            return "the dataset lives for another time here, and its rows depend on that"
        return None

    def _ask_break(self, step: Step) -> str | None:
        if self.faulty and not self.stale:
            return "the specification does not say which epoch follows a break after an error"
        if not (self.stale or self.told) and self.moved and remembers(self.workload):
            return "the epoch's batches depend on how far the epoch before it went"
        if self.told and self._unasked() and remembers(self.workload):
            return "a lane that gave nothing since the load may go a batch further when it is left"
        if self.mark.epoch + 1 >= MOST_EPOCHS:
            return "the history would reach too many epochs"
        return None if self.open else "no epoch is open"

    def _unasked(self) -> bool:
        """Return whether a lane of a stream may have given nothing since a load in this epoch."""
        lanes = self.execution.lanes or self.execution.workers
        of_stream = self.workload.kind == "stateful_iterable"
        return of_stream and self.since is not None and self.since < lanes

    def _ask_save(self, step: Step) -> str | None:
        if step.tolerate != self.dying:
            return "an error of a save is tolerated only while a worker dies"
        if self.broke:
            return "a state between a break and the next epoch may describe either epoch"
        if self.open and not self.moved and self.mark.done == 0 and not self.told:
            return "loaders may count an untouched iterator or not"
        return self._ask_beginning()

    def _ask_seal(self, step: Step) -> str | None:
        pristine = self.objects.get(step.state) and not self.dying
        return None if pristine else "the object was changed after it was saved"

    def _ask_edit(self, step: Step) -> str | None:
        here = step.state in self.objects and not self.dying
        return None if here else "the object belongs to another session"

    def _ask_load(self, step: Step) -> str | None:
        if self.dying and (self.open or self.mark.done):
            return "the worker may be dead"
        if self.open and not self.moved:
            return "an untouched iterator may be stale or not"
        return None

    def _ask_lose(self, step: Step) -> str | None:
        x = self.execution
        replaced = x.workers and x.worker_kind == "process" and not self.seen.unsaved
        if not replaced or self.lost >= x.restarts:
            return "only a process that is a worker can be replaced when it dies"
        return None

    def _ask_beside(self, step: Step) -> str | None:
        faults = (getattr(self.seen, name) for name in ("die_at", "interrupt_at"))
        if self.failing or self.execution.restarts or any(at is not None for at in faults):
            return "it is not sure which loader a fault meets"
        return "no such number of batches" if step.n < 1 else None

    def _ask_name_epoch(self, step: Step) -> str | None:
        counted = self.mark.sure and not (self.open or self.mark.done or self.broke or self.faulty)
        following = counted and step.n == self.mark.epoch
        return None if following else "a caller names the epoch that comes next for sure"

    def _ask_load_bogus(self, step: Step) -> str | None:
        if self.dying:
            return "the worker may be dead"
        if self.workload.grow or self.workload.sets_epoch:
            return "a user who sets the epochs keeps a part of the state, and reads it first"
        return None if step.tolerate else "a loader refuses a value that is no state"

    def follow(self, step: Step) -> None:
        """Take ``step``, which has no objection."""
        if step.do in _MOVES:
            self._deliver(step)
        elif step.do == "break":
            self._break()
        elif step.do == "load":
            self._load(step)
        elif step.do in _MAKES:
            self._make(step)
        elif step.do == "edit":
            self.objects[step.state] = False
        elif step.do == "open":
            self._anew()
        elif step.do == "close":
            self.closed = True
        elif step.do == "lose":
            self.lost += 1
        elif step.do == "kill":
            self.over = True

    def _deliver(self, step: Step) -> None:
        self.epochs = max(self.epochs, self.mark.epoch + 1)
        self.broke, self.spent = False, self.failing
        if step.do == "drain":
            # An error may have ended the drain early.
            self.open = self.moved = self.faulty
            self.mark, self.since = Mark(self.mark.epoch + 1, 0, self.mark.sure), None
            return
        self.open = True
        self.moved = self.moved or step.n != 0
        taken = self.left if step.n == -1 else step.n
        self.since = None if self.since is None else self.since + taken
        self.mark = dataclasses.replace(self.mark, done=self.mark.done + taken)

    def _break(self) -> None:
        if not self.stale and self.moved:
            self.mark = Mark(self.mark.epoch + 1, 0, self.mark.sure)
            self.broke, self.since = True, None
        self.open = self.moved = self.stale = False

    def _load(self, step: Step) -> None:
        mark = self.states[step.state]
        ended = mark.done >= self._length(mark.epoch) > 0
        sure = mark.sure and not (ended or (self.faulty and not self.failing))
        # The later one of the possible positions: there are enough epochs for each of them.
        self.mark = Mark(mark.epoch + 1, 0, sure) if ended else Mark(mark.epoch, mark.done, sure)
        self.stale, self.broke, self.fresh, self.spent = self.open, False, False, False
        self.seedless, self.since = False, 0 if self.mark.done else None
        self.objects[step.state] = False

    def _make(self, step: Step) -> None:
        mark = self.mark if step.do == "save" else self.states[step.state]
        frail = mark.frail or (step.do == "save" and self.dying)
        self.states[_made(step)] = dataclasses.replace(mark, frail=frail)
        if step.do == "save":
            self.objects[step.state] = True


def _made(step: Step) -> str:
    return step.state if step.do == "save" else step.into


_FREE = ("kill", "close", "open", "recode")
"""The actions that can be asked at any position."""


def objection(case: Case) -> str | None:
    """Return why a history is not sound, or None if it is sound."""
    if not case.sessions:
        return "it has no session"
    if case.workload.stream == "oneshot":
        return "its workload has only one epoch, and histories have more"
    if not one_plan(case):
        return "the plan depends on the worker count, which changes"
    if _faulty_nowhere(case):
        return "the faulty sample does not exist"
    if any(_dies_in_vain(case, index) for index in range(len(case.sessions))):
        return "only a process that is a worker can be replaced when it dies"
    return first_objection(Course(case.workload), case)


def first_objection(course: Course, case: Case) -> str | None:
    """Take all steps of a case, and return why the first one may not be asked that may not."""
    for index, plan in enumerate(case.sessions):
        course.begin(case.session_workload(index), plan)
        for step in plan.steps:
            words = course.objection(step)
            if words is not None:
                return f"session {index}, {step.do}: {words}"
            course.follow(step)
    return None


def remembers(w: Workload) -> bool:
    """Return whether an epoch's batches depend on how far the epochs before it went.

    Example:
        >>> remembers(Workload(kind="stateful_map")), remembers(Workload(stream="packing"))
        (True, False)
    """
    private = any(draw in GENERATORS for draw in w.draws)
    sampler = w.sampler != "" and not w.sets_epoch
    kept = w.kind == "stateful_iterable" and (w.state_at == "both" or w.stream == "buffer")
    carried = w.tail == "rollover" or w.stream == "oneshot"
    return w.kind == "stateful_map" or private or sampler or kept or carried


def _lasts(x: Execution) -> bool:
    """Return whether a dataset object usually lives for the whole run, not for one epoch."""
    return x.workers == 0 or x.persistent


def strict(case: Case) -> bool:
    """Return whether a history asks something that only implementers of the format promise.

    That is the effect of an untouched iterator, and the values drawn after a break or an interrupt,
    or beside another loader: one that seeds each batch draws those of the uninterrupted run.
    """
    steps = [step for plan in case.sessions for step in plan.steps]
    peeks = any(step.do == "take" and step.n == 0 for step in steps)
    # A load comes before the break of an iterator that it has made stale.
    pairs = itertools.pairwise(steps)
    breaks = any(step.do == "break" and before.do != "load" for before, step in pairs)
    numbers = range(len(case.sessions))
    interrupts = any(case.session_workload(i).interrupt_at is not None for i in numbers)
    # The dataset's own generators are part of its state.
    ambient = set(case.workload.draws) - set(GENERATORS)
    beside = any(step.do == "beside" for step in steps)
    drawn = (interrupts or beside) and bool(ambient)
    return peeks or (breaks and bool(case.workload.draws)) or drawn


def faulty(case: Case) -> bool:
    """Return whether a sample fails on purpose in any session."""
    return any(fails(case.session_workload(index)) for index in range(len(case.sessions)))


def dies(w: Workload) -> bool:
    """Return whether a worker dies, and is not replaced."""
    return w.die_at is not None and not w.die_once


def fails(w: Workload) -> bool:
    """Return whether a sample's failure shows."""
    return dies(w) or any(getattr(w, name) is not None for name in FAULTS if name != "die_at")


def one_plan(case: Case) -> bool:
    """Return whether all sessions have one plan, whatever their worker counts."""
    first = case.sessions[0].execution
    if any(plan.execution.lanes != first.lanes for plan in case.sessions):
        return False
    if case.workload.kind == "map":
        return True
    # Without given lanes, a stream has as many lanes as there are workers.
    changed = any(plan.execution.workers != first.workers for plan in case.sessions)
    return first.lanes is not None or not changed


def _dies_in_vain(case: Case, index: int) -> bool:
    """Return whether a worker that would be replaced cannot die, or cannot be replaced."""
    w, x = case.session_workload(index), case.sessions[index].execution
    replaced = x.restarts and x.workers and x.worker_kind == "process" and not w.unsaved
    return w.die_once and not replaced


def _faulty_nowhere(case: Case) -> bool:
    """Return whether a faulty sample does not exist."""
    workloads = [case.session_workload(index) for index in range(len(case.sessions))]
    faulty = [getattr(w, name) for w in workloads for name in FAULTS]
    return any(at is not None and not 0 <= at < case.workload.n for at in faulty)
