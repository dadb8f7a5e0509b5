"""How far one lane was delivered, and the entry of a state document that restores it there."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from midepoch.format.dealing import lanes_of
from midepoch.format.plan import Plan
from midepoch.format.state import LaneEntry, LanesState, Share
from midepoch.lane.messages import Batch, Failure, Snapshot
from midepoch.stateful import Frozen

__all__ = ["FRESH", "LaneProgress", "Restorable", "Taken", "entry_of", "fresh_lanes"]

FRESH = LaneEntry(None, None, (), 0, False, 0)
"""A lane at the start of an epoch, with nothing to restore."""


def fresh_lanes(plan: Plan, share: Share | None = None) -> LanesState:
    """Return the lanes of an epoch from which nothing was delivered.

    ``share``: of the rank to which some of the lanes are dealt.
    """
    if not plan.dealt:
        return LanesState(0, (FRESH,) * max(1, plan.lanes))
    lanes = lanes_of(plan, share)
    return LanesState(lanes[0], (replace(FRESH, samples=0),) * len(lanes))


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
        self._begun: Restorable | None = None
        """The objects when this pass had begun, if the one before was left early."""
        self.delivered = opening.delivered
        self.ended = opening.ended
        # A lane may have ended without a snapshot there: the last batches are then made again.
        self._ended_in_base = opening.ended and not opening.replay
        self._end_asked = opening.ended
        """The end was found by a request of its own, which may have drawn what was dropped."""
        first = opening.cut - opening.left
        self._errors = [first + number for number in opening.errors]
        """The ordinals of the batches that the dataset raised an error in; those of a pass before
        are below 0."""
        self._content = opening.content
        self._samples = opening.samples

    def begun(self, snapshot: Snapshot | None) -> None:
        """Keep the states of the objects as they are before the pass's first batch."""
        if snapshot is not None and snapshot.trouble is None and self.delivered == 0:
            self._begun = Taken(snapshot, 0)

    def deliver(
        self,
        outcome: Batch | Failure,
        snapshot: Snapshot | None,
        content: str | None = None,
        samples: int = 0,
    ) -> None:
        """Count a delivered batch, or an error in its place, and keep its snapshot."""
        self._content = content
        if isinstance(outcome, Failure) and outcome.fetching:
            self._errors.append(self.delivered)
        self.delivered += 1
        if self._samples is not None:
            self._samples += samples
        self._keep(snapshot, ended=isinstance(outcome, Batch) and outcome.last)

    def end(self, snapshot: Snapshot | None) -> None:
        """Note that a request found the lane's end, and keep its snapshot."""
        self._end_asked = True
        self._keep(snapshot, ended=True)

    def _keep(self, snapshot: Snapshot | None, *, ended: bool) -> None:
        self.ended = ended
        if snapshot is not None and snapshot.trouble is None:
            self._before = self.latest
            self.latest = Taken(snapshot, self.delivered)
            self._content = None
            self._ended_in_base = ended

    @property
    def base(self) -> LaneEntry:
        """The latest snapshot, or where the epoch started, as an entry of a document."""
        return entry_of(self.latest)

    def entry(self) -> LaneEntry:
        """Return the entry that restores the lane where it is."""
        before = self._before
        if self.ended and not self._ended_in_base and self.delivered == self.base.cut and before:
            # The snapshot of the end failed: the lane is to go through its last batches again.
            return replace(self.since(entry_of(before)), ended=True, content=None)
        return replace(self.since(self.base), ended=self.ended)

    def since(self, base: LaneEntry) -> LaneEntry:
        """Return the entry that restores the lane where it is from a snapshot of this epoch."""
        errors, replay = self._errors_from(base), self.delivered - base.cut
        return replace(
            base, replay=replay, errors=errors, content=self._content, samples=self._samples
        )

    def _errors_from(self, base: LaneEntry) -> tuple[int, ...]:
        first = base.cut - base.left
        return tuple(ordinal - first for ordinal in self._errors if ordinal >= first)

    @property
    def unknown(self) -> bool:
        """Whether no snapshot tells what this pass has made of a dataset that lives on."""
        return self.latest.ordinal < 0 and self.delivered > 0 and self._begun is None

    @property
    def unasked(self) -> bool:
        """Whether the lane was restored within its pass, and has given nothing since."""
        restored = self._before is None and 0 < self.latest.ordinal == self.delivered
        return restored and not self.ended

    def next_epoch_entry(self) -> LaneEntry:
        """Return where the next epoch starts from, for a dataset object that lives on."""
        return replace(self._next_entry(), samples=None if self._samples is None else 0)

    def _next_entry(self) -> LaneEntry:
        base = self.base
        if self.ended and self._ended_in_base:
            stated = tuple(name for name in base.stated if name == "dataset")
            return LaneEntry(base.dataset, None, stated, 0, False, 0)
        if self.delivered == 0:
            return replace(base, replay=0)
        if self.delivered > base.cut and base.ordinal >= 0:
            return self._left_after(base)
        before = self._before
        if before is not None and before.ordinal >= 0:
            return self._left_after(entry_of(before))
        if self._begun is not None:
            # Many objects begin a pass only when it is drawn from: what is drawn after a load may
            # then be of the pass before, and may raise.
            left = self._left_after(entry_of(self._begun))
            return replace(left, errors=tuple(range(left.left)))
        # Only one more batch begins a pass for sure (``unasked``), or nothing tells what this pass
        # has made (``unknown``): then the lane itself goes on.
        return replace(base, ordinal=-1, ended=False, replay=0, errors=(0,), content=None)

    def _left_after(self, base: LaneEntry) -> LaneEntry:
        """Return the entry of a pass that is left here, and was snapshotted at ``base``."""
        batches = self.delivered - base.ordinal + self._end_asked
        errors = self._errors_from(base)
        return replace(base, ordinal=-batches, ended=False, replay=0, errors=errors, content=None)
