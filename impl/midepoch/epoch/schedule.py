"""Dealing the tasks of an epoch: which one is next, who runs it, and whose answer is next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from midepoch.epoch.execution import Way
from midepoch.epoch.progress import Delivered
from midepoch.format.state import Document
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

__all__ = ["Dealing", "Seen", "Slot"]

WINDOW = 2
"""Out of order, delivery is this many times the batches under way ahead of the slowest one."""


class Seen(Protocol):
    """What dealing needs to know of the deliveries."""

    @property
    def low(self) -> int:
        """The first batch that was not delivered."""
        ...

    def lane_ended(self, lane: int) -> bool:
        """Tell whether a lane's end was passed."""
        ...


@dataclass(slots=True)
class Slot:
    """A task that was dealt."""

    number: int
    lane: int
    worker: int
    step: Step | None
    reply: Reply | None = None


class Dealing:
    """The tasks of one epoch that are under way."""

    # ``start`` is the batch that the order's first draw gives. ``limit``: deal none from there
    # on. ``drawn``: what was drawn of the order before, its end (None) included.
    def __init__(
        self,
        document: Document,
        order: Order,
        workers: Workers,
        way: Way,
        turn: int,
        *,
        start: int = 0,
        limit: int | None = None,
        drawn: Iterable[Step | None] = (),
    ) -> None:
        plan, position = document.plan, document.position
        self.workers = workers
        self.turn = turn
        self.in_order = way.in_order
        self.capacity = workers.capacity if way.prefetch is None else max(1, way.prefetch)
        self.ahead = workers.ahead and way.prefetch != 0
        """Tasks are submitted before their batches are asked for."""
        self._iterable = plan.dataset == "iterable"
        self._lanes = max(1, plan.lanes)
        self._interval = way.interval if way.stateful else 0
        self._free, self._anywhere = way.free, way.anywhere
        self._order = order
        self._shown = Delivered(position.batches, position.ahead)
        self._start, self._next, self._limit = start, start, limit
        self._drawn = deque(drawn)
        self._next_lane = document.lanes.next if document.lanes is not None else 0
        self._dealt_all = False
        self._numbers = 0
        self._taken = 0
        """In order: the number of the slot that is taken next."""
        self._slots: dict[int, Slot] = {}
        """By their numbers, in the order in which they were dealt."""
        self._arrived: deque[Slot] = deque()
        self._at_worker = [0] * workers.count
        self._at_lane = [0] * self._lanes

    # Opening

    def open(
        self, document: Document, *, going_on: bool, report: bool
    ) -> dict[int, Snapshot | None]:
        """Start the lanes of the epoch; return the reports asked for."""
        lanes = document.lanes
        openings = tuple(
            Opening(lane, None if going_on or lanes is None else lanes.entries[lane], report)
            for lane in range(self._lanes)
        )
        epoch = document.position.epoch
        return self.workers.open(Open(self.turn, epoch, openings, anywhere=self._anywhere))

    def verify(self) -> None:
        """Draw all that had been delivered, so that an order that differs is seen at once.

        Raises:
            ReplayMismatchError: the order does not give what it gave.
        """
        while self._start + len(self._drawn) < self._shown.reach:
            self._drawn.append(self._order.draw())

    # Dealing

    def fill(self, seen: Seen) -> None:
        """Deal tasks until as many are under way as may be."""
        while len(self._slots) < self.capacity and not self._dealt_all:
            if self._iterable:
                self._deal_to_lane(seen)
            elif self._next == self._limit or self._too_far(seen):
                return
            else:
                self._deal_step()

    def _too_far(self, seen: Seen) -> bool:
        # What was delivered ahead is in the state: it must not grow while one batch hangs.
        return not self.in_order and self._next - seen.low >= WINDOW * self.capacity

    def _deal_to_lane(self, seen: Seen) -> None:
        lane = next(self._open_lanes(seen), None)
        if lane is None:
            self._dealt_all = True
            return
        if not self.in_order:
            lane = min(self._open_lanes(seen), key=self._load)
        self._next_lane = (lane + 1) % self._lanes
        slot = self._add(lane, lane, None)
        self.workers.submit(Fetch(self.turn, slot.number, lane, lane, 0, None, False, True))

    def _open_lanes(self, seen: Seen) -> Iterator[int]:
        """Yield the lanes that have not ended, from the next one on."""
        for i in range(self._lanes):
            lane = (self._next_lane + i) % self._lanes
            if not seen.lane_ended(lane):
                yield lane

    def _load(self, lane: int) -> tuple[int, int]:
        return self._at_worker[lane % self.workers.count], self._at_lane[lane]

    def _deal_step(self) -> None:
        step = self._drawn.popleft() if self._drawn else self._order.draw()
        if step is None:
            self._dealt_all = True
            return
        self._next += 1
        replay = step.index < self._shown.low
        if not replay and step.index in self._shown:
            return
        lane = step.index % self._lanes
        route = self._route(step, lane)
        slot = self._add(lane, route, step)
        if step.error is not None:
            outcome = Done() if replay else Failure(step.error)
            self.accept(Reply(self.turn, slot.number, outcome))
            return
        due = not replay and self._due(step)
        self.workers.submit(
            Fetch(self.turn, slot.number, lane, route, step.index, step.keys, due, not replay)
        )

    def _route(self, step: Step, lane: int) -> int:
        if self._anywhere:
            return min(range(self.workers.count), key=self._at_worker.__getitem__)
        # Fewer lanes than workers: the lanes' tasks go round all of them.
        return step.index if self._free and self._lanes < self.workers.count else lane

    def _due(self, step: Step) -> bool:
        """Tell whether a step is its lane's last before a cut."""
        if not self._interval:
            return False
        cut = (step.index // self._interval + 1) * self._interval
        return step.index + self._lanes >= cut

    def _add(self, lane: int, route: int, step: Step | None) -> Slot:
        slot = Slot(self._numbers, lane, route % self.workers.count, step)
        self._numbers += 1
        self._slots[slot.number] = slot
        self._at_worker[slot.worker] += 1
        self._at_lane[lane] += 1
        return slot

    def ask_ends(self) -> None:
        """Ask all lanes for the state of their dataset at the epoch's end."""
        for lane in range(self._lanes):
            slot = self._add(lane, lane, None)
            self.workers.submit(Finish(self.turn, slot.number, lane, lane))

    # Answers

    @property
    def empty(self) -> bool:
        """Whether all that was dealt was taken."""
        return not self._slots

    def accept(self, reply: Reply) -> None:
        """Note an answer."""
        slot = self._slots[reply.slot]
        slot.reply = reply
        self._at_worker[slot.worker] -= 1
        self._at_lane[slot.lane] -= 1
        if not self.in_order:
            self._arrived.append(slot)

    def take(self) -> tuple[Slot, Reply] | None:
        """Return the next task and its answer, or ``None`` where that is still to come."""
        if self.in_order:
            slot = self._slots.get(self._taken)
        else:
            slot = self._arrived.popleft() if self._arrived else None
        if slot is None or slot.reply is None:
            return None
        del self._slots[slot.number]
        self._taken += 1
        return slot, slot.reply

    def pending(self) -> tuple[int, list[Any]]:
        """Return how many tasks are under way, and the data of the batches that have arrived."""
        slots = list(self._slots.values())  # at once: another thread may ask
        outcomes = [slot.reply.outcome for slot in slots if slot.reply is not None]
        return len(slots), [outcome.data for outcome in outcomes if isinstance(outcome, Batch)]

    # An epoch that was begun before it was asked for

    def agree(self, order: Order) -> list[Step | None]:
        """Draw of ``order`` what was dealt here, up to and with the first batch that differs.

        Go on with ``order`` where all of it is the same: see ``agreed``.
        """
        drawn: list[Step | None] = []
        for slot in self._slots.values():
            if self._iterable:
                continue
            drawn.append(order.draw())
            if not _same(drawn[-1], slot.step):
                return drawn
        self._order, self._dealt_all, self.agreed = order, False, True
        return drawn

    agreed = False
    """``agree`` found the order to be the same."""


def _same(one: Step | None, other: Step | None) -> bool:
    if one is None or other is None or one.error or other.error or one.index != other.index:
        return False
    try:
        return type(one.keys) is type(other.keys) and bool(one.keys == other.keys)
    except Exception:  # keys are the user's: not all can be compared
        return False
