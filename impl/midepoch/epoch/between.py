"""Where workers wait between two epochs, and the epoch that was begun before it was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from midepoch.epoch.execution import Way
from midepoch.epoch.progress import Progress
from midepoch.epoch.schedule import Dealing
from midepoch.format.state import Document
from midepoch.lane.ambient import Ambient
from midepoch.lane.messages import Snapshot
from midepoch.sampling.batches import Order, Step
from midepoch.workers.protocol import Workers

__all__ = ["Early", "Shelf"]


@dataclass(frozen=True)
class Early:
    """An epoch whose lanes were started, and whose first tasks were dealt."""

    dealing: Dealing
    reports: dict[int, Snapshot | None]
    """The states in which it found the lanes' datasets."""
    ambient: Ambient
    """What worker threads took over from their caller when it was opened."""


class Shelf:
    """Where workers wait between two epochs, and how iterators learn that a state was loaded."""

    def __init__(self) -> None:
        self.idle: Workers | None = None
        self.clean = False
        """The idle workers' lanes are where the epoch was left."""
        self.early: Early | None = None
        self.loads = 0
        """States loaded so far: an iterator made before the latest is stale."""
        self.turns = 0

    def turn(self) -> int:
        """Return the number of the next iteration."""
        self.turns += 1
        return self.turns

    def drop(self) -> None:
        """Close the idle workers."""
        idle, self.idle = self.idle, None
        if idle is not None:
            idle.close()
        self.drop_early()

    def drop_early(self) -> None:
        """Close the workers of the epoch that was begun early."""
        early, self.early = self.early, None
        if early is not None:
            early.dealing.workers.close()

    def begin(self, document: Document, order: Order, way: Way) -> None:
        """Begin an epoch on the idle workers, going on from the last, before it is asked for.

        Raises what the user's code raises at the start of a lane, after closing the workers.
        """
        workers, self.idle = self.idle, None
        if workers is None:
            return
        ambient = Ambient.here()
        try:
            dealing = Dealing(document, order, workers, way, self.turn())
            progress = Progress(document, order, stateful=way.stateful, interval=way.interval)
            report = way.stateful and not progress.iterable
            reports = dealing.open(document, going_on=True, report=report)
            dealing.fill(progress)
        except BaseException:
            workers.close()
            raise
        self.early = Early(dealing, reports, ambient)

    def take_early(self, order: Order, way: Way) -> tuple[Early | None, list[Step | None]]:
        """Return the epoch that was begun, if it is the one that ``order`` gives.

        Returns too what was drawn of ``order`` to find that out. Workers that went on with
        another order are closed, but for those whose lanes remember nothing.
        """
        early, self.early = self.early, None
        if early is None:
            return None, []
        drawn = early.dealing.agree(order)
        if early.dealing.agreed:
            return early, []
        if way.free:
            self.idle, self.clean = early.dealing.workers, False
        else:
            early.dealing.workers.close()
        return None, drawn
