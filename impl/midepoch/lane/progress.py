"""How far one lane was delivered, and the entry of a state document that restores it there."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from midepoch.format.plan import Plan
from midepoch.format.state import LaneEntry, LanesState
from midepoch.lane.messages import Snapshot
from midepoch.stateful import Frozen

__all__ = ["FRESH", "LaneProgress", "Restorable", "Taken", "entry_of", "fresh_lanes"]

FRESH = LaneEntry(None, None, (), 0, False, 0)
"""A lane at the start of an epoch, with nothing to restore."""


def fresh_lanes(plan: Plan) -> LanesState:
    """Return the lanes of an epoch from which nothing was delivered."""
    return LanesState(0, (FRESH,) * max(1, plan.lanes))


class Taken(NamedTuple):
    """A snapshot of a lane, and the batches that the lane had yielded by then."""

    snapshot: Snapshot
    ordinal: int

    def entry(self) -> LaneEntry:
        """Return the entry that restores the lane as it was then."""
        dataset, iterator = self.snapshot.dataset, self.snapshot.iterator
        parts: dict[str, Frozen | None] = {"dataset": dataset, "iterator": iterator}
        stated = tuple(name for name, value in parts.items() if value is not None)
        return LaneEntry(dataset, iterator, stated, self.ordinal, False, 0)


Restorable = LaneEntry | Taken
"""A point to which a lane can be restored. Entries are made only when a document is asked for."""


def entry_of(base: Restorable) -> LaneEntry:
    """Return ``base`` as an entry of a state document."""
    return base if isinstance(base, LaneEntry) else base.entry()


class LaneProgress:
    """How far one lane was delivered in this epoch."""

    def __init__(self, opening: LaneEntry) -> None:
        self.latest: Restorable = opening
        """The latest snapshot, or where the epoch started."""
        self._before: Restorable | None = None
        self.delivered = opening.delivered
        self.ended = opening.ended
        self._ended_in_base = opening.ended

    def advance(self, snapshot: Snapshot | None, *, batches: int, ended: bool) -> None:
        """Count a delivered batch or an end, and keep its snapshot."""
        self.delivered += batches
        self.ended = ended
        if snapshot is not None and snapshot.trouble is None:
            self._before = self.latest
            self.latest = Taken(snapshot, self.delivered)
            self._ended_in_base = ended

    @property
    def base(self) -> LaneEntry:
        """The latest snapshot, or where the epoch started, as an entry of a document."""
        return entry_of(self.latest)

    def entry(self) -> LaneEntry:
        """Return the entry that restores the lane where it is."""
        base = self.base
        return replace(base, ended=self.ended, replay=self.delivered - base.cut)

    def next_epoch_entry(self) -> LaneEntry:
        """Return where the next epoch starts from, for a dataset object that lives on."""
        base = self.base
        if self.ended and self._ended_in_base:
            stated = tuple(name for name in base.stated if name == "dataset")
            return LaneEntry(base.dataset, None, stated, 0, False, 0)
        if self.delivered == 0:
            return replace(base, replay=0)
        batches = self.delivered - base.cut
        if batches and base.ordinal >= 0:
            return _left_after(base, batches)
        before = self._before
        if before is not None and before.ordinal >= 0:
            return _left_after(entry_of(before), self.delivered - before.ordinal)
        return _left_after(base, 1)


def _left_after(base: LaneEntry, batches: int) -> LaneEntry:
    """Return the entry of a pass that is left ``batches`` after ``base``."""
    return replace(base, ordinal=-batches, ended=False, replay=0)
