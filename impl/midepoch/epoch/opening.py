"""The epoch that an iterator opens: the loaded one, the next one, or the one begun early."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from midepoch import _torch
from midepoch.epoch.between import StartedEpoch, open_epoch
from midepoch.epoch.execution import Execution
from midepoch.epoch.iterator import EpochIterator
from midepoch.epoch.planning import make_order, under
from midepoch.epoch.pool import WorkerPool
from midepoch.epoch.position import LoaderPosition
from midepoch.epoch.progress import Progress
from midepoch.errors import ReplayWarning, warn_user
from midepoch.format.dealing import lanes_of
from midepoch.format.state import Document
from midepoch.sampling.batches import Order
from midepoch.sampling.chain import is_replayable, put_back_after

__all__ = ["EpochOpener"]


@dataclass(frozen=True)
class EpochOpener:
    """Opens the epochs of a loader."""

    loader: Any
    """A ``StatefulDataLoader``: its arguments may be set between two epochs."""
    position: LoaderPosition
    pool: WorkerPool

    def open(self, *, ended: Callable[[Progress], None] | None = None) -> EpochIterator:
        """Return an iterator from the loader's position; at the epoch's end it calls ``ended``."""
        self.loader.check_worker_number_rationality()
        self.pool.meet_ranks(self.loader.dataset, self.position.plan)
        document, continuing = self._start()
        with put_back_after(self.position.chain, failure_only=True):  # the epoch is begun again
            iterator = self._iterator(document, continuing=continuing, ended=ended)
            iterator.asked_length = _torch.asked_length(self.loader)
            self.position.enter(iterator.progress)
        return iterator

    def _start(self) -> tuple[Document, bool]:
        """Return where the next iterator starts, and whether the lanes already stand there."""
        plan, progress = self.position.plan, self.position.progress
        if progress is None or not progress.moved:
            self.position.check_known()
            self.pool.drop_lanes(plan)  # its lanes may have run ahead, without a delivered batch
            return self.position.upcoming(), False
        if not progress.finished:
            self._leave(progress)
        if progress.unasked:  # it would go on in the next epoch, if it keeps a loaded position
            self.pool.drop_lanes(plan)
        waiting = self.pool.lanes_wait(plan)
        if not waiting:
            self.position.check_known(upcoming=True)
        return self.position.upcoming(), waiting

    def _leave(self, progress: Progress) -> None:
        """Leave an epoch early: restore lanes and sampler to the delivered position.

        A replay restores lost lanes.
        """
        plan = self.position.plan
        lives_on = plan.lifetime == "run" and self.position.stateful and not progress.iterable
        lanes_lost = lives_on and not self.pool.lanes_wait(plan)
        if lanes_lost:
            self.position.check_known()
            self._replay_alone(progress.document())
        progress.order.rewind_to(progress.reach, disturbed=lanes_lost)

    def _replay_alone(self, document: Document) -> None:
        """Restore the lanes of an epoch that is left, under the epoch that its sampler had."""
        chain = self.position.chain
        here = None if chain is None else chain.epoch()
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        self._iterator(document, continuing=False, replay_only=True).replay()
        if chain is not None:
            chain.put_epoch(here)  # the program may have set the next one already

    def _iterator(
        self,
        document: Document,
        *,
        continuing: bool,
        replay_only: bool = False,
        ended: Callable[[Progress], None] | None = None,
    ) -> EpochIterator:
        position = self.position
        started, execution, clock = self._begin(
            document, continuing=continuing, replay_only=replay_only
        )
        return EpochIterator(
            started,
            execution,
            between=self.pool.between,
            tally=self.pool.tally,
            clock=clock,
            length=self.loader.__len__,
            interrupted=self.pool.resized,
            again=self._again,
            ended=ended,
            together=position.ranks.same_ends() if position.ranks and position.plan.dealt else None,
        )

    def _again(self, progress: Progress, replay_only: bool) -> tuple[StartedEpoch, Execution, int]:
        """Begin an interrupted epoch once more, after the last batch delivered (FAULT-12).

        Raises:
            SnapshotError: no document tells the datasets' states there (LANE-35).
        """
        self.position.check_known()
        document, chain = progress.document(), self.position.chain
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        begun = self._begin(document, continuing=False, replay_only=replay_only, restored=True)
        self.position.enter(begun[0].progress)
        return begun

    def _begin(
        self,
        document: Document,
        *,
        continuing: bool,
        replay_only: bool = False,
        restored: bool = False,
    ) -> tuple[StartedEpoch, Execution, int]:
        """Start the epoch of ``document``; return it, its execution and its number in the tally.

        ``restored``: the samplers are restored from the document, too.
        """
        position, pool = self.position, self.pool
        document = under(document, position.current_plan(), position.share())
        _warn_of_replay(document)
        execution = self._execution()
        moved = position.progress is not None and position.progress.moved
        order = self._order(document, execution, continuing=moved and not (replay_only or restored))
        started, drawn = pool.take_early(document, order, execution, continuing=continuing)
        # Ask now: pool.workers() takes the idle workers, and their lanes wait no longer.
        continuing = continuing and (started is not None or pool.lanes_wait(position.plan))
        clock = pool.tally.started()
        try:
            if started is None:
                started = open_epoch(
                    document,
                    order,
                    execution,
                    pool.workers(self.loader, position.plan, execution, position.share()),
                    pool.between.next_iteration(),
                    continuing=continuing,
                    limit=document.delivered if replay_only else None,
                    drawn=drawn,
                )
        except BaseException:
            pool.tally.stopped(clock)
            raise
        if not continuing:
            pool.tally.replayed += _replayed_at_start(document)
        return started, execution, clock

    def _execution(self) -> Execution:
        position, plan = self.position, self.position.plan
        if plan.dealt:
            plan = replace(plan, lanes=len(lanes_of(plan, position.share())))
        return self.pool.execution(self.loader, plan, stateful=position.stateful)

    def _order(self, document: Document, execution: Execution, *, continuing: bool) -> Order:
        position = self.position
        return make_order(
            document,
            position.chain,
            interval=execution.interval,
            continuing=continuing,
            place=position.ranks.settle() if position.ranks else None,
        )

    def begin_next(self, progress: Progress) -> None:
        """Begin the next epoch while the caller is still at the end of ``progress``'s epoch."""
        position, pool = self.position, self.pool
        newest = progress is position.progress and pool.lanes_wait(position.plan)
        if not (newest and progress.returnable and is_replayable(position.chain)):
            return
        # The next iter() begins the epoch again, and raises the error to the caller.
        with suppress(Exception), put_back_after(position.chain):
            document = under(progress.next_epoch(), position.current_plan(), position.share())
            execution = self._execution()
            order = self._order(document, execution, continuing=True)
            pool.between.begin_early(document, order, execution)


def _warn_of_replay(document: Document) -> None:
    lanes = document.lanes
    if lanes is None or document.plan.dataset != "iterable":
        return
    count = sum(entry.replay for entry in lanes.entries if not entry.stated)
    if count:
        warn_user(
            f"{count} batches are produced again to reach the loaded position: neither the "
            "dataset nor its iterator has a state_dict, or no snapshot was taken yet",
            ReplayWarning,
        )


def _replayed_at_start(document: Document) -> int:
    """Return the batches that an iterable's lanes make again before their first new one."""
    if document.lanes is None or document.plan.dataset != "iterable":
        return 0
    return sum(entry.replay + max(0, -entry.ordinal) for entry in document.lanes.entries)
