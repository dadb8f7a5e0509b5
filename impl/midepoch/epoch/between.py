"""The start of an epoch, and the workers that wait between two epochs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from midepoch.epoch.execution import Execution
from midepoch.epoch.progress import Progress
from midepoch.epoch.schedule import Schedule
from midepoch.format.state import Document
from midepoch.lane.ambient import Ambient
from midepoch.lane.messages import Snapshot
from midepoch.sampling.batches import Order, Step
from midepoch.workers.protocol import Workers

__all__ = ["BetweenEpochs", "StartedEpoch", "open_epoch"]


@dataclass(frozen=True)
class StartedEpoch:
    """An epoch whose lanes were started and, if batches are fetched ahead, its first tasks."""

    schedule: Schedule
    progress: Progress
    reports: dict[int, Snapshot | None]
    """The states in which the epoch found the lanes' datasets."""
    ambient: Ambient
    """The torch settings that worker threads took over from the caller."""


def open_epoch(
    document: Document,
    order: Order,
    execution: Execution,
    workers: Workers,
    iteration: int,
    *,
    continuing: bool,
    limit: int | None = None,
    drawn: Iterable[Step | None] = (),
) -> StartedEpoch:
    """Start the epoch of ``document`` on ``workers``.

    ``continuing``: the lanes are where the epoch before left them. ``limit``, ``drawn``: see
    ``Schedule``.

    Raises what the user's code raises at the start of a lane, after closing the workers.
    """
    ambient = Ambient.here()
    try:
        progress = Progress(document, order, execution)
        start = progress.replay_start()
        schedule = Schedule(
            document, order, execution, workers, iteration, start=start, limit=limit, drawn=drawn
        )
        if document.position.ahead:
            schedule.verify()
        report = execution.stateful and (
            progress.follows_left or (continuing and not progress.iterable)
        )
        reports = schedule.open(document, continuing=continuing, report=report)
        progress.found(reports)
        if schedule.ahead:
            schedule.fill(progress)
    except BaseException:
        workers.close()
        raise
    return StartedEpoch(schedule, progress, reports, ambient)


class BetweenEpochs:
    """The workers that wait for the next epoch, or have begun it already.

    Iterators learn here that a state was loaded, or that a newer iterator was made.
    """

    def __init__(self) -> None:
        self.idle: Workers | None = None
        self.clean = False
        """The idle workers' lanes are where the epoch ended."""
        self.early: StartedEpoch | None = None
        """The next epoch, begun before the caller asked for it."""
        self.loads = 0
        """States loaded so far: an iterator made before the latest load is stale."""
        self.iterations = 0

    def next_iteration(self) -> int:
        """Return the number of the next iteration."""
        self.iterations += 1
        return self.iterations

    def drop(self) -> None:
        """Close the idle workers, and those of an epoch that was begun early."""
        idle, self.idle = self.idle, None
        if idle is not None:
            idle.close()
        self.drop_early()

    def drop_early(self) -> None:
        """Close the workers of the epoch that was begun early."""
        early, self.early = self.early, None
        if early is not None:
            early.schedule.workers.close()

    def begin_early(self, document: Document, order: Order, execution: Execution) -> None:
        """Begin the next epoch on the idle workers before the caller asks for it."""
        workers, self.idle = self.idle, None
        if workers is not None:
            iteration = self.next_iteration()
            self.early = open_epoch(document, order, execution, workers, iteration, continuing=True)

    def take_early(
        self, document: Document, order: Order, execution: Execution
    ) -> tuple[StartedEpoch | None, list[Step | None]]:
        """Return the epoch that was begun early, if ``order`` gives the same batches.

        If not, return the batches that were drawn of ``order`` to find that out. The workers
        are closed then, unless their lanes remember nothing.
        """
        early, self.early = self.early, None
        if early is None:
            return None, []
        drawn: list[Step | None] = []
        if early.progress.epoch == document.position.epoch:  # or else it has other seeds
            drawn = early.schedule.agree(order)
        if early.schedule.agreed:
            progress = Progress(document, order, execution)
            progress.found(early.reports)
            return replace(early, progress=progress), []
        if execution.routing != "lane":
            self.idle, self.clean = early.schedule.workers, False
        else:
            early.schedule.workers.close()
        return None, drawn
