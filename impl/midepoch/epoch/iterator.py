"""The one epoch iterator: asks for what comes next, delivers it, and tracks the position."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from midepoch.epoch.between import Early, Shelf
from midepoch.epoch.execution import Way
from midepoch.epoch.progress import Progress
from midepoch.epoch.schedule import Dealing, Slot
from midepoch.errors import SnapshotWarning, StaleIteratorError, WorkerDiedError
from midepoch.format.state import Document
from midepoch.lane.messages import Batch, Ended, Failure, Reply, Snapshot
from midepoch.sampling.batches import Order, Step
from midepoch.workers.protocol import Workers

__all__ = ["EpochIterator", "SkippingRest"]


class EpochIterator(Iterator[Any]):
    """Yields the rest of one epoch.

    Raises, from ``next()``: ``StaleIteratorError`` after a state was loaded into the loader, or
    where a newer iterator goes on with the same dataset object and its state;
    ``WorkerDiedError`` and ``WorkerTimeoutError``; what the user's code raised, after which the
    next batch follows.
    """

    # ``early``: the epoch was begun already, and ``workers`` are its own. ``drawn``: see
    # ``Dealing``. ``ended``: called when the end was seen and the workers were given back.
    def __init__(
        self,
        document: Document,
        order: Order,
        *,
        way: Way,
        workers: Workers,
        shelf: Shelf,
        going_on: bool,
        replay_only: bool = False,
        early: Early | None = None,
        drawn: list[Step | None] | None = None,
        ended: Callable[[Progress], None] | None = None,
    ) -> None:
        self._way = way
        self._shelf = shelf
        self._loads = shelf.loads
        self._workers: Workers | None = workers
        self._ended = ended
        self._died: tuple[Any, ...] | None = None
        self.progress = Progress(document, order, stateful=way.stateful, interval=way.interval)
        self.asked_length: int | None = None
        """What ``len()`` of the iterable dataset was said to be, if it was asked."""
        self._tally = way.tally
        self._clock = self._tally.started()
        if early is not None:
            self._dealing = early.dealing
            self.progress.reports(early.reports)
            return
        self._dealing = Dealing(
            document,
            order,
            workers,
            way,
            shelf.turn(),
            start=self.progress.replay_start(),
            limit=document.position.batches if replay_only else None,
            drawn=drawn or (),
        )
        try:
            self._open(document, going_on)
        except BaseException:
            self._discard()
            raise

    def _open(self, document: Document, going_on: bool) -> None:
        dealing = self._dealing
        if document.position.ahead:
            dealing.verify()
        self._tally.replayed += 0 if going_on else _replayed_at_start(document)
        report = going_on and self._way.stateful and not self.progress.iterable
        reports = dealing.open(document, going_on=going_on, report=report)
        if report:
            self.progress.reports(reports)
        if dealing.ahead:
            dealing.fill(self.progress)

    # Iterating

    def __iter__(self) -> EpochIterator:
        return self

    def __len__(self) -> int:
        return self._way.length()

    def __next__(self) -> Any:
        self._check_fresh()
        if self.progress.finished:
            raise StopIteration
        if self._died is not None:
            raise WorkerDiedError(*self._died)
        start = time.perf_counter()
        outcome = self._next_outcome()
        self._tally.waited += time.perf_counter() - start
        if isinstance(outcome, Failure):
            error = outcome.exception()
            del outcome
            try:
                raise error
            finally:
                del error, self  # its traceback must not keep this iterator and its workers alive
        batch = outcome.take()
        self._check_length()
        return batch

    def _check_fresh(self) -> None:
        if self._loads != self._shelf.loads:
            self._discard()
            raise StaleIteratorError(
                "a state was loaded into the loader after this iterator was made; "
                "call iter(loader) again"
            )
        if self._way.shared and not self._newest() and not self.progress.finished:
            self._discard()
            raise StaleIteratorError(
                "a newer iterator of the loader goes on with the same dataset object, whose state "
                "this one would change; use one iterator at a time, or num_workers=1"
            )

    def _newest(self) -> bool:
        return self._dealing.turn == self._shelf.turns

    def _next_outcome(self) -> Batch | Failure:
        dealing = self._dealing
        while True:
            self._running()
            dealing.fill(self.progress)
            if dealing.empty:
                self._finish()
                raise StopIteration
            slot, reply = self._await()
            outcome = reply.outcome
            self._warn_of(reply.snapshot)
            if isinstance(outcome, (Batch, Failure)):
                self.progress.delivered(slot.lane, slot.step, outcome, reply.snapshot)
                self._tally.batches += 1
                if dealing.ahead:
                    dealing.fill(self.progress)
                return outcome
            if isinstance(outcome, Ended):
                self.progress.passed_end(slot.lane, reply.snapshot)
            else:
                self._tally.replayed += 1

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
                # Begins as torch's does: programs filter warnings by that.
                f"Length of IterableDataset was reported to be {length} (when accessing "
                f"len(dataloader)), but {self.progress.batches} samples have been fetched. ",
                stacklevel=3,
            )

    def _await(self) -> tuple[Slot, Reply]:
        """Return the next task that was run, and its answer."""
        while (taken := self._dealing.take()) is None:
            try:
                reply = self._running().next_reply()
            except WorkerDiedError as error:
                self._died = error.args
                self._discard()
                raise
            self._dealing.accept(reply)
        snapshot = taken[1].snapshot
        if snapshot is not None and snapshot.trouble is None:
            self._tally.snapshots += 1
        return taken

    def _running(self) -> Workers:
        if self._workers is None:
            raise StaleIteratorError("the workers of this iterator were shut down")
        return self._workers

    def pending(self) -> tuple[int, list[Any]]:
        """Return how many tasks are under way, and the data of the batches that have arrived."""
        return (0, []) if self._workers is None else self._dealing.pending()

    # Ending

    def _finish(self) -> None:
        """See the epoch's end: lanes that live on tell the state in which it left them."""
        reports: dict[int, Snapshot | None] = {}
        crosses = self.progress.plan.lifetime == "run" and self._way.stateful
        if crosses and not self.progress.iterable:
            self._dealing.ask_ends()
            while not self._dealing.empty:
                slot, reply = self._await()
                reports[slot.lane] = reply.snapshot
        self.progress.finish(reports)
        self._release()
        if self._ended is not None:
            self._ended(self.progress)

    def replay(self) -> None:
        """Run the replay alone, up to the loaded position, and give the workers back there."""
        self._dealing.fill(self.progress)
        while not self._dealing.empty:
            self._await()
            self._tally.replayed += 1
            self._dealing.fill(self.progress)
        self._release()

    def _release(self) -> None:
        """Give the workers back: to the shelf where they go on, else to their end."""
        self._tally.stopped(self._clock)
        workers, self._workers = self._workers, None
        if workers is None:
            return
        clean = self._dealing.empty
        usable = self._died is None and (clean or not self._way.stateful)
        if self._way.keep and usable and self._shelf.idle is None and self._fresh():
            self._shelf.idle, self._shelf.clean = workers, clean
        else:
            workers.close()

    def _fresh(self) -> bool:
        # The lanes of an older iterator are not where the state says that they are.
        return self._loads == self._shelf.loads and self._newest()

    def _discard(self) -> None:
        self._tally.stopped(self._clock)
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()

    def _shutdown_workers(self) -> None:
        """Stop the workers; programs written for torch's iterators call this."""
        self._discard()

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def __del__(self) -> None:
        with suppress(AttributeError):  # where the constructor itself failed
            self._release()


def _replayed_at_start(document: Document) -> int:
    """Return the batches that lanes of an iterable dataset make again before their first."""
    if document.lanes is None or document.plan.dataset != "iterable":
        return 0
    return sum(entry.replay + max(0, -entry.ordinal) for entry in document.lanes.entries)


class SkippingRest(Iterator[Any]):
    """Yields the rest of an epoch; where nothing is left of it, the next epoch (EPOCH-3).

    Whether anything is left is found out at the first ``next()``, as the end of an epoch is: of
    a user's sampler or a stream nobody knows it before.
    """

    def __init__(
        self, rest: EpochIterator, following: Callable[[EpochIterator], EpochIterator | None]
    ) -> None:
        """``following`` opens the epoch after ``rest``, or returns ``None`` where another did."""
        self._current = rest
        self._following = following
        self._asked = False

    def __len__(self) -> int:
        return len(self._current)

    def __next__(self) -> Any:
        if self._asked:
            return next(self._current)
        self._asked = True
        try:
            return next(self._current)
        except StopIteration:
            following = self._following(self._current)
            if following is None:
                raise
        self._current = following
        return next(following)

    def _shutdown_workers(self) -> None:
        """Stop the workers; programs written for torch's iterators call this."""
        self._current._shutdown_workers()
