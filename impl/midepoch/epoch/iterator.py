"""The one epoch iterator: delivers what the schedule gives, and tracks the position."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from midepoch.epoch.between import BetweenEpochs, StartedEpoch
from midepoch.epoch.execution import Execution
from midepoch.epoch.progress import Progress
from midepoch.epoch.schedule import ScheduledTask
from midepoch.errors import (
    BusyIteratorError,
    SnapshotWarning,
    StaleIteratorError,
    WorkerDiedError,
    warn_user,
)
from midepoch.lane.messages import Batch, Ended, Failure, Outcome, Reply, Snapshot
from midepoch.stats import Tally
from midepoch.workers.protocol import Workers

__all__ = ["EpochIterator", "SkippingRest"]


_REPLICAS = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the "
    "IterableDataset replica at each worker. Please see "
    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
)
"""torch's own hint."""


class _Turn:
    """Whether a call of ``next()`` runs.

    It is a plain attribute, which is checked and set with no call between: the interpreter
    neither changes threads there nor runs a signal handler, after which a lock would stay locked.
    """

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken = False


def _busy() -> BusyIteratorError:
    return BusyIteratorError(
        "next() was called while another call of it runs, in another thread or in the batch's own "
        "code; give each thread a loader of its own, or let one thread hand out the batches"
    )


class EpochIterator(Iterator[Any]):
    """Yields the rest of one epoch.

    ``next()`` raises ``StaleIteratorError`` after a state was loaded into the loader, or when a
    newer iterator uses the same dataset object and its state; ``BusyIteratorError`` while another
    thread is inside it; ``WorkerDiedError`` and ``WorkerTimeoutError``; and errors of the user's
    code, after which the next batch follows.
    """

    # ``clock``: this iterator's number in ``tally``. ``interrupted``: called when an interrupt left
    # the lanes somewhere within a batch. ``again``: begins the epoch once more; if the second
    # argument says so, only what was delivered. ``ended``: called when the iterator has met the
    # epoch's end and has released its workers. ``together``: asks the other ranks whether all have
    # a batch, and tells how many this one has at hand.
    def __init__(
        self,
        started: StartedEpoch,
        execution: Execution,
        *,
        between: BetweenEpochs,
        tally: Tally,
        clock: int,
        length: Callable[[], int],
        interrupted: Callable[[], None],
        again: Callable[[Progress, bool], tuple[StartedEpoch, Execution, int]],
        ended: Callable[[Progress], None] | None = None,
        together: Callable[[int], bool] | None = None,
    ) -> None:
        self.progress = started.progress
        self.asked_length: int | None = None
        """The ``len()`` of the iterable dataset, if the caller asked for it."""
        self._schedule = started.schedule
        self._team: Workers | None = started.schedule.workers
        self._execution = execution
        self._between = between
        self._loads = between.loads
        self._tally = tally
        self._clock = clock
        self._length = length
        self._interrupted = interrupted
        self._again = again
        self._broken = False
        """An interrupt left the lanes somewhere within a batch."""
        self._ended = ended
        self._together = together
        self._died: tuple[Any, ...] | None = None
        self._turn = _Turn()

    # Iterating

    def __iter__(self) -> EpochIterator:
        return self

    def __len__(self) -> int:
        return self._length()

    def __next__(self) -> Any:
        turn = self._turn
        if turn.taken:
            raise _busy()
        turn.taken = True
        try:
            self._check_fresh()
            if self.progress.finished:
                raise StopIteration
            if self._died is not None:
                raise WorkerDiedError(*self._died)
            start = time.perf_counter()
            try:
                if self._broken:
                    self._begin_again()
                outcome = self._next_outcome()
            except Exception:
                raise
            except BaseException:
                # KeyboardInterrupt and its like come anywhere: the batch counts as not delivered,
                # and the lanes are restored before it is made (FAULT-12).
                self._stop()
                raise
            self._tally.waited += time.perf_counter() - start
            if isinstance(outcome, Failure):
                error = outcome.exception()
                del outcome
                try:
                    raise error
                finally:
                    # The traceback must not keep this iterator and its workers alive.
                    del error, self
            batch = outcome.take()
            self._check_length()
            return batch
        finally:
            turn.taken = False

    def _begin_again(self, *, replay_only: bool = False) -> None:
        """Continue after the last batch delivered, with lanes that are restored."""
        if not self._newest():
            raise StaleIteratorError(
                "this iterator was interrupted, and a newer one was made; use the newer one"
            )
        started, self._execution, self._clock = self._again(self.progress, replay_only)
        self.progress, self._schedule = started.progress, started.schedule
        self._team, self._broken = started.schedule.workers, False

    def _check_fresh(self) -> None:
        if self._loads != self._between.loads:
            self._discard()
            raise StaleIteratorError(
                "a state was loaded into the loader after this iterator was made; "
                "call iter(loader) again"
            )
        shared = self._execution.objects == "shared"
        if shared and not self._newest() and not self.progress.finished:
            self._discard()
            raise StaleIteratorError(
                "a newer iterator of the loader uses the same dataset object, whose state this one "
                "would change; use one iterator at a time, or num_workers=1"
            )

    def _newest(self) -> bool:
        return self._schedule.iteration == self._between.iterations

    def _next_outcome(self) -> Batch | Failure:
        schedule = self._schedule
        while True:
            self._running()
            schedule.fill(self.progress)
            if schedule.empty:
                if self._together is not None:
                    self._together(0)
                self._finish()
                raise StopIteration
            task, reply = self._await()
            outcome = reply.outcome
            self._warn_of(reply.snapshot)
            if task.replay:
                self._replayed(outcome)
            elif isinstance(outcome, (Batch, Failure)):
                if self._together is not None and not self._together(1 + schedule.ready()):
                    self._leave_rest()
                    raise StopIteration
                if schedule.ahead:
                    # It draws from the user's sampler: until then this batch is not delivered.
                    schedule.fill(self.progress)
                self.progress.delivered(
                    task.lane, task.step, outcome, reply.snapshot, reply.content
                )
                self._tally.batches += 1
                return outcome
            elif isinstance(outcome, Ended):
                self.progress.passed_end(task.lane, reply.snapshot)

    def _replayed(self, outcome: Outcome) -> None:
        """Count a replayed batch; an error that it did not raise before ends the replay."""
        self._tally.replayed += 1
        if isinstance(outcome, Failure):
            self._stop()
            raise outcome.exception()

    def _stop(self) -> None:
        """Leave the lanes where they are; they are restored before the next batch is made."""
        self._broken = True
        self._discard()
        self._interrupted()

    def _warn_of(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None and snapshot.trouble is not None:
            warn_user(
                f"the dataset's state_dict failed ({snapshot.trouble}); the older snapshot is "
                "kept, and a resume replays more batches",
                SnapshotWarning,
            )

    def _check_length(self) -> None:
        length = self.asked_length
        if length is not None and self.progress.batches > length and self.progress.iterable:
            warn_user(
                # It begins as torch's warning does, because programs filter warnings by that.
                f"Length of IterableDataset was reported to be {length} (when accessing "
                f"len(dataloader)), but {self.progress.batches} samples have been fetched. "
                + (_REPLICAS if self._execution.kind != "inline" else "")
            )

    def _await(self) -> tuple[ScheduledTask, Reply]:
        """Return the next task and its answer; wait for the answer."""
        while (taken := self._schedule.take()) is None:
            try:
                reply = self._running().next_reply(self._schedule.awaited())
            except WorkerDiedError as error:
                self._died = error.args
                self._discard()
                raise
            self._schedule.accept(reply)
        snapshot = taken[1].snapshot
        if snapshot is not None and snapshot.trouble is None:
            self._tally.snapshots += 1
        return taken

    def _running(self) -> Workers:
        if self._team is None:
            raise StaleIteratorError("the workers of this iterator were shut down")
        return self._team

    def pending(self) -> tuple[int, list[Any]]:
        """Return how many tasks are under way, and the data of the batches that have arrived."""
        return (0, []) if self._team is None else self._schedule.pending()

    # Ending

    def _finish(self) -> None:
        """Note the epoch's end, with the states of lanes that live on."""
        reports: dict[int, Snapshot | None] = {}
        if self._crosses() and not self.progress.iterable:
            self._schedule.ask_ends()
            while not self._schedule.empty:
                task, reply = self._await()
                reports[task.lane] = reply.snapshot
        self.progress.finish(reports)
        self._release()
        if self._ended is not None:
            self._ended(self.progress)

    def _crosses(self) -> bool:
        """Tell whether the next epoch begins with the datasets' states at the end of this one."""
        return self.progress.plan.lifetime == "run" and self._execution.stateful

    def _leave_rest(self) -> None:
        """End the epoch here, because another rank has no batch; this one's is not delivered."""
        self._discard()
        self._interrupted()
        if self.progress.iterable or not (self._crosses() and self._newest()):
            self.progress.finish({})
            return
        self._begin_again(replay_only=True)  # the lanes without that batch begin the next epoch
        self._replay()
        self._finish()

    def replay(self) -> None:
        """Run the replay alone, up to the loaded position, and release the workers there."""
        self._replay()
        self._release()

    def _replay(self) -> None:
        self._schedule.fill(self.progress)
        while not self._schedule.empty:
            self._replayed(self._await()[1].outcome)
            self._schedule.fill(self.progress)

    def _release(self) -> None:
        """Let the workers wait for the next epoch if they can, or close them."""
        self._tally.stopped(self._clock)
        workers, self._team = self._team, None
        if workers is None:
            return
        between, clean = self._between, self._schedule.empty
        kept = self._execution.between_epochs == "keep" and between.idle is None
        usable = self._died is None and (clean or not self._execution.stateful)
        if kept and usable and self._fresh():
            between.idle, between.clean = workers, clean
        else:
            workers.close()

    def _fresh(self) -> bool:
        # The lanes of an older iterator are not where the state says.
        return self._loads == self._between.loads and self._newest()

    def _discard(self) -> None:
        self._tally.stopped(self._clock)
        workers, self._team = self._team, None
        if workers is not None:
            workers.close()

    def _shutdown_workers(self) -> None:
        """Stop the workers; programs written for torch's iterators call this."""
        self._discard()

    @property
    def _workers(self) -> list[Any]:
        """The worker processes, or threads; programs written for torch's iterators read this.

        Without workers there is no such attribute, as in torch.
        """
        if self._execution.kind == "inline":
            raise AttributeError(f"{type(self).__name__} has no workers")
        return [] if self._team is None else self._team.members()

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")

    def __del__(self) -> None:
        self._release()


class SkippingRest(Iterator[Any]):
    """Yields the rest of an epoch or, if nothing is left of it, the next epoch (EPOCH-3).

    The first ``next()`` shows whether anything is left. A user's sampler or stream does not
    tell it earlier.
    """

    def __init__(
        self, rest: EpochIterator, following: Callable[[EpochIterator], EpochIterator | None]
    ) -> None:
        """``following`` opens the epoch after ``rest``, or returns ``None`` if another did."""
        self._current = rest
        self._following = following
        self._asked = False
        self._turn = _Turn()

    def __len__(self) -> int:
        return len(self._current)

    def __next__(self) -> Any:
        if self._asked:
            return next(self._current)
        turn = self._turn
        if turn.taken:
            raise _busy()
        turn.taken = True
        try:
            return self._first()
        finally:
            self._asked, turn.taken = True, False

    def _first(self) -> Any:
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

    @property
    def _workers(self) -> list[Any]:
        return self._current._workers
