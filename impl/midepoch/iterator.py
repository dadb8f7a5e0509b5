"""The one epoch iterator: deals tasks to lanes, puts answers in order, tracks the position."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from midepoch.errors import SnapshotWarning, StaleIteratorError, WorkerDiedError
from midepoch.messages import (
    Batch,
    Done,
    Ended,
    Failure,
    Fetch,
    Finish,
    Open,
    Opening,
    Reply,
    Snapshot,
)
from midepoch.progress import Progress
from midepoch.samplers import Order, Step
from midepoch.state import Document
from midepoch.workers.protocol import Workers

__all__ = ["EpochIterator", "Shelf", "Way"]


@dataclass(frozen=True)
class Way:
    """How a loader's epochs are run: what does not change from one iterator to the next."""

    stateful: bool
    """The dataset has a state."""
    interval: int
    """Global batches between two snapshots; 0: none."""
    free: bool
    """Any worker can run any lane's tasks: the dataset is map-style and has no state."""
    keep: bool
    """Workers go on from epoch to epoch."""
    pin: Callable[[Any], Any] | None
    length: Callable[[], int]
    """``len()`` of the loader."""


class Shelf:
    """Where workers wait between two epochs, and how iterators learn that a state was loaded."""

    def __init__(self) -> None:
        self.idle: Workers | None = None
        self.clean = False
        """The idle workers' lanes are where the epoch was left."""
        self.loads = 0
        """States loaded so far: an iterator made before the latest is stale."""
        self.turns = 0

    def drop(self) -> None:
        """Close the idle workers."""
        idle, self.idle = self.idle, None
        if idle is not None:
            idle.close()


@dataclass(slots=True)
class _Slot:
    """A task that was dealt."""

    number: int
    lane: int
    step: Step | None
    ship: bool
    reply: Reply | None = None


class EpochIterator(Iterator[Any]):
    """Yields the rest of one epoch.

    Raises, from ``next()``: ``StaleIteratorError`` after a state was loaded into the loader;
    ``WorkerDiedError`` and ``WorkerTimeoutError``; what the user's code raised, after which the
    next batch follows.
    """

    def __init__(
        self,
        document: Document,
        order: Order,
        *,
        custom: bool,
        way: Way,
        workers: Workers,
        shelf: Shelf,
        going_on: bool,
        replay_only: bool = False,
    ) -> None:
        self._way = way
        self._order = order
        self._shelf = shelf
        self._loads = shelf.loads
        self._workers: Workers | None = workers
        self._lanes = max(1, document.plan.lanes)
        self.progress = Progress(
            document, order if custom else None, stateful=way.stateful, interval=way.interval
        )
        self._slots: deque[_Slot] = deque()
        self._by_number: dict[int, _Slot] = {}
        self._numbers = 0
        self._deal_lane = self.progress.next_lane
        self._dealt_all = False
        self._resumed_at = document.position.batches
        self._drawn = self.progress.replay_start()
        self._limit = self._resumed_at if replay_only else None
        self._died: tuple[Any, ...] | None = None
        self.asked_length: int | None = None
        """What ``len()`` of the iterable dataset was said to be, if it was asked."""
        shelf.turns += 1
        self._turn = shelf.turns
        try:
            self._open(document, going_on)
        except BaseException:
            self._discard()
            raise

    def _open(self, document: Document, going_on: bool) -> None:
        lanes = document.lanes
        workers = self._running()
        report = going_on and self._way.stateful and not self.progress.iterable
        openings = tuple(
            Opening(lane, None if going_on or lanes is None else lanes.entries[lane], report)
            for lane in range(self._lanes)
        )
        reports = workers.open(Open(self._turn, self.progress.epoch, openings))
        if report:
            self.progress.reports(reports)
        if workers.ahead:
            self._fill()

    # Iterating

    def __iter__(self) -> EpochIterator:
        return self

    def __len__(self) -> int:
        return self._way.length()

    def __next__(self) -> Any:
        if self._loads != self._shelf.loads:
            self._discard()
            raise StaleIteratorError(
                "a state was loaded into the loader after this iterator was made; "
                "call iter(loader) again"
            )
        if self.progress.finished:
            raise StopIteration
        if self._died is not None:
            raise WorkerDiedError(*self._died)
        outcome = self._next_outcome()
        if isinstance(outcome, Failure):
            error = outcome.exception()
            del outcome
            try:
                raise error
            finally:
                del error  # else its traceback would keep this iterator, and its workers, alive
        batch = outcome.take()
        self._check_length()
        return batch if self._way.pin is None else self._way.pin(batch)

    def _next_outcome(self) -> Batch | Failure:
        while True:
            self._fill()
            if not self._slots:
                self._finish()
                raise StopIteration
            slot = self._slots[0]
            reply = self._await(slot)
            self._slots.popleft()
            outcome = reply.outcome
            self._warn_of(reply.snapshot)
            if isinstance(outcome, (Batch, Failure)):
                self.progress.delivered(slot.lane, slot.step, outcome, reply.snapshot)
                if self._running().ahead:
                    self._fill()
                return outcome
            if isinstance(outcome, Ended):
                self.progress.passed_end(slot.lane, reply.snapshot)

    def _warn_of(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None and snapshot.trouble is not None:
            warnings.warn(
                f"the dataset's state_dict failed ({snapshot.trouble}); the older snapshot is "
                "kept, and a resume replays more batches",
                SnapshotWarning,
                stacklevel=4,
            )

    def _check_length(self) -> None:
        length = self.asked_length
        if length is not None and self.progress.batches > length and self.progress.iterable:
            warnings.warn(
                f"Length of the IterableDataset was reported to be {length} (when accessing "
                f"len(dataloader)), but {self.progress.batches} samples have been fetched. ",
                stacklevel=3,
            )

    def _await(self, slot: _Slot) -> Reply:
        while slot.reply is None:
            try:
                reply = self._running().next_reply()
            except WorkerDiedError as error:
                self._died = error.args
                self._discard()
                raise
            self._by_number.pop(reply.slot).reply = reply
        return slot.reply

    def _running(self) -> Workers:
        if self._workers is None:
            raise StaleIteratorError("the workers of this iterator were shut down")
        return self._workers

    # Dealing

    def _fill(self) -> None:
        """Deal tasks until as many are under way as the workers take."""
        workers = self._running()
        while len(self._slots) < workers.capacity and not self._dealt_all:
            if self.progress.iterable:
                self._deal_to_lane(workers)
            elif self._drawn == self._limit:
                return
            else:
                self._deal_step(workers)

    def _deal_to_lane(self, workers: Workers) -> None:
        for _ in range(self._lanes):
            lane = self._deal_lane
            self._deal_lane = (lane + 1) % self._lanes
            if not self.progress.lane_ended(lane):
                slot = self._add(lane, None, ship=True)
                workers.submit(Fetch(self._turn, slot, lane, lane, 0, None, False, True))
                return
        self._dealt_all = True

    def _deal_step(self, workers: Workers) -> None:
        step = self._order.draw()
        if step is None:
            self._dealt_all = True
            return
        self._drawn += 1
        ship = step.index >= self._resumed_at
        lane = step.index % self._lanes
        number = self._add(lane, step, ship=ship)
        if step.error is not None:
            outcome = Failure(step.error) if ship else Done()
            self._by_number.pop(number).reply = Reply(self._turn, number, outcome)
            return
        # Fewer lanes than workers: the lanes' tasks go round all of them.
        route = step.index if self._way.free and self._lanes < workers.count else lane
        workers.submit(
            Fetch(
                self._turn, number, lane, route, step.index, step.keys, self._due(step, ship), ship
            )
        )

    def _due(self, step: Step, ship: bool) -> bool:
        """Tell whether a step is its lane's last before a cut."""
        interval = self._way.interval
        if not (interval and ship and self._way.stateful):
            return False
        cut = (step.index // interval + 1) * interval
        return step.index + self._lanes >= cut

    def _add(self, lane: int, step: Step | None, *, ship: bool) -> int:
        slot = _Slot(self._numbers, lane, step, ship)
        self._numbers += 1
        self._slots.append(slot)
        self._by_number[slot.number] = slot
        return slot.number

    # Ending

    def _finish(self) -> None:
        """See the epoch's end: lanes that live on tell the state in which it left them."""
        reports: dict[int, Snapshot | None] = {}
        workers = self._running()
        crosses = self.progress.plan.lifetime == "run" and self._way.stateful
        if crosses and not self.progress.iterable:
            for lane in range(self._lanes):
                number = self._add(lane, None, ship=False)
                workers.submit(Finish(self._turn, number, lane, lane))
            while self._slots:
                slot = self._slots[0]
                reports[slot.lane] = self._await(slot).snapshot
                self._slots.popleft()
        self.progress.finish(reports)
        self._release()

    def replay(self) -> None:
        """Run the replay alone, up to the loaded position, and give the workers back there."""
        self._fill()
        while self._slots:
            self._await(self._slots[0])
            self._slots.popleft()
            self._fill()
        self._release()

    def _release(self) -> None:
        """Give the workers back: to the shelf where they go on, else to their end."""
        workers, self._workers = self._workers, None
        if workers is None:
            return
        clean = not self._by_number
        usable = self._died is None and (clean or not self._way.stateful)
        if self._way.keep and usable and self._shelf.idle is None and self._fresh():
            self._shelf.idle, self._shelf.clean = workers, clean
        else:
            workers.close()

    def _fresh(self) -> bool:
        return self._loads == self._shelf.loads

    def _discard(self) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    def _shutdown_workers(self) -> None:
        """Stop the workers; programs written for torch's iterators call this."""
        self._discard()

    def __del__(self) -> None:
        with suppress(AttributeError):  # where the constructor itself failed
            self._release()
