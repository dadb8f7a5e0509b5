"""The tasks of an epoch: which one is next, which worker runs it, whose answer is taken next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from midepoch.epoch.execution import Execution
from midepoch.epoch.progress import Delivered
from midepoch.format.state import Document, LaneEntry, LanesState
from midepoch.lane.messages import (
    Batch,
    Done,
    Failure,
    Fetch,
    Finish,
    Open,
    Opening,
    Reply,
    Snapshot,
)
from midepoch.sampling.batches import Order, Step
from midepoch.workers.protocol import Workers

__all__ = ["Deliveries", "Schedule", "ScheduledTask"]

WINDOW = 2
"""Out of order, delivery is this many times the batches under way ahead of the slowest one."""


class Deliveries(Protocol):
    """The deliveries so far, as the schedule needs to know them."""

    @property
    def low(self) -> int:
        """The first batch that was not delivered."""
        ...

    def lane_ended(self, lane: int) -> bool:
        """Tell whether the epoch has passed a lane's end."""
        ...


@dataclass(slots=True)
class ScheduledTask:
    """A task that was given to a worker."""

    number: int
    lane: int
    worker: int
    step: Step | None
    """Map-style: the batch of the order. ``None`` for the next batch of an iterable's lane."""
    replay: bool = False
    """The batch was delivered before: it is made again for its lane's sake alone."""
    reply: Reply | None = None


class Schedule:
    """The tasks of one epoch that are under way."""

    # ``start``: the batch that the order's first draw gives. ``limit``: the first batch that is
    # not scheduled. ``drawn``: the steps drawn of the order before, its end (None) included.
    def __init__(
        self,
        document: Document,
        order: Order,
        execution: Execution,
        workers: Workers,
        iteration: int,
        *,
        start: int = 0,
        limit: int | None = None,
        drawn: Iterable[Step | None] = (),
    ) -> None:
        plan, prefetch = document.plan, execution.prefetch
        self.workers = workers
        self.iteration = iteration
        self.in_order = execution.order == "plan"
        self.capacity = workers.capacity if prefetch is None else max(1, prefetch)
        self.ahead = workers.ahead and prefetch != 0
        """Tasks are submitted before their batches are asked for."""
        self.agreed = False
        """``agree`` found another order to give the same batches."""
        self._iterable = plan.dataset == "iterable"
        self._lanes = max(1, plan.lanes) if not plan.dealt else len(_entries(document))
        self._interval = execution.interval if execution.stateful else 0
        self._routing = execution.routing
        self._order = order
        self._loaded = Delivered.of(document)
        """The deliveries before this iteration."""
        self._raised = _raised(document.lanes, self._lanes)
        self._cuts = [entry.cut for entry in _entries(document)]
        """Map-style: the batches of each lane that its snapshot contains."""
        self._start, self._next, self._limit = start, start, limit
        self._drawn = deque(drawn)
        self._next_lane = document.lanes.next if document.lanes is not None else 0
        self._asked = [entry.delivered for entry in _entries(document)] if plan.dealt else None
        """Where lanes are dealt to ranks: the batches that each was asked for."""
        self._exhausted = False
        """The order, or each lane, has no more batches."""
        self._numbers = 0
        self._taken = 0
        """In order: the number of the task that is taken next."""
        self._tasks: dict[int, ScheduledTask] = {}
        """By their numbers, in the order in which they were scheduled."""
        self._arrived: deque[ScheduledTask] = deque()
        self._at_worker = [0] * workers.count
        self._at_lane = [0] * self._lanes

    # Opening

    def open(
        self, document: Document, *, continuing: bool, report: bool
    ) -> dict[int, Snapshot | None]:
        """Start the lanes of the epoch; with ``report``, return the states of their datasets."""
        lanes = document.lanes
        openings = tuple(
            Opening(lane, None if continuing or lanes is None else lanes.entries[lane], report)
            for lane in range(self._lanes)
        )
        epoch = document.position.epoch
        anywhere = self._routing == "anywhere"
        return self.workers.open(Open(self.iteration, epoch, openings, anywhere=anywhere))

    def verify(self) -> None:
        """Draw all batches that had been delivered, to see at once if the order differs.

        Raises:
            ReplayMismatchError: the order gives other batches than before.
        """
        while self._start + len(self._drawn) < self._loaded.reach:
            self._drawn.append(self._order.draw())

    # Scheduling: the epoch's next batch is decided here

    def fill(self, deliveries: Deliveries) -> None:
        """Schedule tasks until as many are under way as may be."""
        while len(self._tasks) < self.capacity and not self._exhausted:
            if self._iterable:
                self._schedule_lane(deliveries)
            elif self._next == self._limit or self._too_far(deliveries):
                return
            else:
                self._schedule_step()

    def _too_far(self, deliveries: Deliveries) -> bool:
        # A state lists the batches that overtook a slow one: the list must stay short meanwhile.
        return not self.in_order and self._next - deliveries.low >= WINDOW * self.capacity

    def _schedule_lane(self, deliveries: Deliveries) -> None:
        lane = next(self._open_lanes(deliveries), None)
        if lane is None:
            self._exhausted = True
            return
        if self._asked is not None:
            lane = min(self._open_lanes(deliveries), key=self._turn)
            self._asked[lane] += 1
        elif not self.in_order:
            lane = min(self._open_lanes(deliveries), key=self._load)
        self._next_lane = (lane + 1) % self._lanes
        task = self._add(lane, lane, None)
        self.workers.submit(
            Fetch(
                iteration=self.iteration,
                slot=task.number,
                lane=lane,
                route=lane,
                number=0,
                keys=None,
                snapshot=False,
                ship=True,
            )
        )

    def _open_lanes(self, deliveries: Deliveries) -> Iterator[int]:
        """Yield the lanes that have not ended, from the next one on."""
        for i in range(self._lanes):
            lane = (self._next_lane + i) % self._lanes
            if not deliveries.lane_ended(lane):
                yield lane

    def _turn(self, lane: int) -> tuple[int, int]:
        return (0 if self._asked is None else self._asked[lane]), lane

    def _load(self, lane: int) -> tuple[int, int]:
        return self._at_worker[lane % self.workers.count], self._at_lane[lane]

    def _schedule_step(self) -> None:
        step = self._drawn.popleft() if self._drawn else self._order.draw()
        if step is None:
            self._exhausted = True
            return
        self._next += 1
        replay = step.index < self._loaded.low
        if not replay and step.index in self._loaded:
            return
        ordinal, lane = divmod(step.index, self._lanes)
        if replay and ordinal < self._cuts[lane]:
            return
        route = self._route(step, lane)
        task = self._add(lane, route, step)
        task.replay = replay
        if step.error is not None:
            outcome = Done() if replay else Failure(step.error)
            self.accept(Reply(self.iteration, task.number, outcome))
            return
        due = not replay and self._snapshot_due(step)
        self.workers.submit(
            Fetch(
                iteration=self.iteration,
                slot=task.number,
                lane=lane,
                route=route,
                number=step.index,
                keys=step.keys,
                snapshot=due,
                ship=not replay,
                raises=replay and step.index in self._raised,
                place=step.place,
            )
        )

    def _route(self, step: Step, lane: int) -> int:
        if self._routing == "anywhere":
            return min(range(self.workers.count), key=self._at_worker.__getitem__)
        # With fewer lanes than workers, tasks go to all workers in turn.
        return step.index if self._routing == "free" and self._lanes < self.workers.count else lane

    def _snapshot_due(self, step: Step) -> bool:
        """Tell whether a step is its lane's last before all lanes are snapshotted."""
        if not self._interval:
            return False
        cut = (step.index // self._interval + 1) * self._interval
        return step.index + self._lanes >= cut

    def _add(self, lane: int, route: int, step: Step | None) -> ScheduledTask:
        task = ScheduledTask(self._numbers, lane, route % self.workers.count, step)
        self._numbers += 1
        self._tasks[task.number] = task
        self._at_worker[task.worker] += 1
        self._at_lane[lane] += 1
        return task

    def ask_ends(self) -> None:
        """Ask all lanes for the state of their dataset at the epoch's end."""
        for lane in range(self._lanes):
            task = self._add(lane, lane, None)
            self.workers.submit(Finish(self.iteration, task.number, lane, lane))

    # Answers

    @property
    def empty(self) -> bool:
        """Whether no task is under way."""
        return not self._tasks

    def accept(self, reply: Reply) -> None:
        """Note an answer."""
        task = self._tasks[reply.slot]
        task.reply = reply
        self._at_worker[task.worker] -= 1
        self._at_lane[task.lane] -= 1
        if not self.in_order:
            self._arrived.append(task)

    def take(self) -> tuple[ScheduledTask, Reply] | None:
        """Return the next task and its answer, or ``None`` if the answer has not arrived."""
        if self.in_order:
            task = self._tasks.get(self._taken)
        else:
            task = self._arrived.popleft() if self._arrived else None
        if task is None or task.reply is None:
            return None
        del self._tasks[task.number]
        self._taken += 1
        return task, task.reply

    def ready(self) -> int:
        """Return how many batches, in order, can be taken without waiting for a worker."""
        count = 0
        for task in self._tasks.values():
            if task.reply is None:
                break
            count += isinstance(task.reply.outcome, (Batch, Failure))
        return count

    def awaited(self) -> int:
        """Return the worker of the oldest task that has no answer; there is one."""
        return next(task.worker for task in self._tasks.values() if task.reply is None)

    def pending(self) -> tuple[int, list[Any]]:
        """Return how many tasks are under way, and the data of the batches that have arrived."""
        tasks = list(self._tasks.values())  # in one step: any thread may call this
        outcomes = [task.reply.outcome for task in tasks if task.reply is not None]
        return len(tasks), [outcome.data for outcome in outcomes if isinstance(outcome, Batch)]

    # An epoch that was begun early

    def agree(self, order: Order) -> list[Step | None]:
        """Compare ``order`` with the scheduled steps; return its draws up to the first difference.

        If there is none, ``agreed`` is set, and ``order`` gives all further steps.
        """
        drawn: list[Step | None] = []
        for task in self._tasks.values():
            if self._iterable:
                continue
            drawn.append(order.draw())
            if not _same(drawn[-1], task.step):
                return drawn
        self._order, self._exhausted, self.agreed = order, False, True
        return drawn


def _entries(document: Document) -> tuple[LaneEntry, ...]:
    return () if document.lanes is None else document.lanes.entries


def _raised(lanes: LanesState | None, count: int) -> set[int]:
    """Return the batches of a map-style dataset in which it raised an error, before this run."""
    entries = () if lanes is None else lanes.entries
    return {
        (entry.cut + number) * count + lane
        for lane, entry in enumerate(entries)
        for number in entry.errors
    }


def _same(one: Step | None, other: Step | None) -> bool:
    if one is None or other is None or one.error or other.error or one.index != other.index:
        return False
    try:
        return type(one.keys) is type(other.keys) and bool(one.keys == other.keys)
    except Exception:  # keys are the user's: not all can be compared
        return False
