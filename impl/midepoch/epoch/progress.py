"""How far an epoch was delivered, and the state document of that moment.

Users' parts stay frozen here: ``frozen`` and ``thawed`` convert whole documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from midepoch.epoch.delivered import Delivered
from midepoch.errors import StateEncodingError, type_name
from midepoch.format.plan import Plan
from midepoch.format.state import Document, LaneEntry, LanesState, Position
from midepoch.lane.messages import Batch, Failure, Frozen, Snapshot, freeze, thaw
from midepoch.sampling.batches import Order, Step
from midepoch.sampling.custom import DIGEST_START

__all__ = ["FRESH", "LaneProgress", "Progress", "fresh_lanes", "frozen", "thawed"]

FRESH = LaneEntry(None, None, (), 0, False, 0)
"""A lane at the start of an epoch, with nothing to restore."""


def fresh_lanes(plan: Plan) -> LanesState:
    """Return the lanes of an epoch that nothing was delivered of."""
    return LanesState(0, (FRESH,) * max(1, plan.lanes))


def frozen(document: Document) -> Document:
    """Return ``document`` with users' parts serialised, as a value of its own (STATE-5)."""
    return _convert(document, lambda value: freeze(value))


def thawed(document: Document) -> Document:
    """Return ``document`` with new trees for users' parts (STATE-1, STATE-2)."""
    return _convert(document, thaw)


def _convert(document: Document, convert: Callable[[Any], Any]) -> Document:
    position, sampler, lanes = document.position, document.sampler, document.lanes
    if position.carried:
        position = replace(position, carried=tuple(map(_copied, position.carried)))
    if sampler is not None:
        generators = tuple(
            # Plain JSON types, but the caller's own: a copy.
            replace(one, state=thaw(freeze(one.state)))
            for one in sampler.generators
        )
        states = {
            slot: convert(value) if slot in sampler.stated else None
            for slot, value in sampler.states.items()
        }
        sampler = replace(sampler, generators=generators, states=states)
    if lanes is not None:
        lanes = replace(lanes, entries=tuple(_convert_entry(e, convert) for e in lanes.entries))
    return replace(document, position=position, sampler=sampler, lanes=lanes)


def _copied(key: Any) -> Any:
    """Return a copy of a key that was carried; in a run itself the sampler's own objects stay."""
    try:
        return thaw(freeze(key))
    except Exception as error:
        raise StateEncodingError(
            "$.position.carried",
            type_name(key),
            f"it cannot be pickled ({error}); let the sampler yield plain keys",
        ) from error


def _convert_entry(entry: LaneEntry, convert: Callable[[Any], Any]) -> LaneEntry:
    return replace(
        entry,
        dataset=convert(entry.dataset) if "dataset" in entry.stated else None,
        iterator=convert(entry.iterator) if "iterator" in entry.stated else None,
    )


class _Taken(NamedTuple):
    """A snapshot that a lane took, and the batches that it had yielded then."""

    snapshot: Snapshot
    ordinal: int

    def entry(self) -> LaneEntry:
        """Return what restores the lane as it was then."""
        dataset, iterator = self.snapshot.dataset, self.snapshot.iterator
        parts: dict[str, Frozen | None] = {"dataset": dataset, "iterator": iterator}
        stated = tuple(name for name, value in parts.items() if value is not None)
        return LaneEntry(dataset, iterator, stated, self.ordinal, False, 0)


_Base = LaneEntry | _Taken
"""Where a lane can be put back to; entries are made only where a document is asked for."""


def _entry(base: _Base) -> LaneEntry:
    return base if isinstance(base, LaneEntry) else base.entry()


class LaneProgress:
    """What was delivered of one lane in this epoch."""

    def __init__(self, opening: LaneEntry) -> None:
        self.latest: _Base = opening
        """The latest snapshot, or where the epoch started."""
        self._before: _Base | None = None
        self.delivered = max(0, opening.ordinal) + opening.replay
        self.ended = opening.ended
        self._ended_in_base = opening.ended

    def advance(self, snapshot: Snapshot | None, *, batches: int, ended: bool) -> None:
        """Count a delivered batch or an end, and keep its snapshot."""
        self.delivered += batches
        self.ended = ended
        if snapshot is not None and snapshot.trouble is None:
            self._before = self.latest
            self.latest = _Taken(snapshot, self.delivered)
            self._ended_in_base = ended

    @property
    def base(self) -> LaneEntry:
        """The latest snapshot, or where the epoch started, as an entry of a document."""
        return _entry(self.latest)

    def entry(self) -> LaneEntry:
        """Return what restores the lane where it is."""
        base = self.base
        return replace(base, ended=self.ended, replay=self.delivered - max(0, base.ordinal))

    def boundary(self) -> LaneEntry:
        """Return what the next epoch starts from, for a dataset object that lives on."""
        base = self.base
        if self.ended and self._ended_in_base:
            stated = tuple(name for name in base.stated if name == "dataset")
            return LaneEntry(base.dataset, None, stated, 0, False, 0)
        if self.delivered == 0:
            return replace(base, replay=0)
        calls = self.delivered - max(0, base.ordinal)
        if calls and base.ordinal >= 0:
            return self._left(base, calls)
        before = self._before
        if before is not None and before.ordinal >= 0:
            return self._left(_entry(before), self.delivered - before.ordinal)
        return self._left(base, 1)

    @staticmethod
    def _left(base: LaneEntry, calls: int) -> LaneEntry:
        return replace(base, ordinal=-calls, ended=False, replay=0)


class Progress:
    """The position of one epoch iterator; outlives it, so that the loader can tell its state."""

    def __init__(self, document: Document, order: Order, *, stateful: bool, interval: int) -> None:
        self.plan = document.plan
        self.iterable = document.plan.dataset == "iterable"
        """Whether the dataset is iterable-style."""
        self.epoch = document.position.epoch
        self.delivery = Delivered(document.position.batches, document.position.ahead)
        self.samples = document.position.samples
        self.digest = document.position.digest
        self.order = order
        self.moved = False
        """Something was delivered: the position was consumed."""
        self.finished = False
        self._stateful = stateful
        self._interval = interval
        self._lanes: list[LaneProgress] | None = None
        self._cut: tuple[_Base, ...] = ()
        self._cut_at = 0
        self._reports: dict[int, Snapshot | None] = {}
        self.next_lane = 0
        if document.lanes is not None:
            self._lanes = [LaneProgress(entry) for entry in document.lanes.entries]
            self.next_lane = document.lanes.next
            self._cut = document.lanes.entries
            self._cut_at = sum(max(0, entry.ordinal) for entry in self._cut)

    @property
    def batches(self) -> int:
        """Batches delivered in this epoch."""
        return self.delivery.count

    @property
    def low(self) -> int:
        """The first batch that was not delivered."""
        return self.delivery.low

    @property
    def reach(self) -> int:
        """One more than the last batch delivered: where the sampler stands."""
        return self.delivery.reach

    def lane_ended(self, lane: int) -> bool:
        """Tell whether a lane's end was passed."""
        return self._lanes is not None and self._lanes[lane].ended

    def replay_start(self) -> int:
        """Return the batch from which tasks are dealt: the lanes' cut (map-style with state)."""
        return self.low if self.iterable or self._lanes is None else self._cut_at

    # Advancing

    def passed_end(self, lane: int, snapshot: Snapshot | None) -> None:
        """Pass the place in the order where an iterable lane ended."""
        if self._lanes is not None:
            self._lanes[lane].advance(snapshot, batches=0, ended=True)
        self._turn(lane)

    def delivered(
        self,
        lane: int,
        step: Step | None,
        outcome: Batch | Failure,
        snapshot: Snapshot | None,
    ) -> None:
        """Count one batch, or an error in its place."""
        self.moved = True
        self.delivery.add(self.batches if step is None else step.index)
        if step is not None:
            self.samples += step.samples
            if self.reach == step.index + 1:
                self.digest = step.digest
        elif isinstance(outcome, Batch):
            self.samples += outcome.samples
        if self._lanes is not None:
            ended = isinstance(outcome, Batch) and outcome.last
            self._lanes[lane].advance(snapshot, batches=1, ended=ended)
            if not self.iterable:
                self._cut_if_complete()
        self._turn(lane)
        self.order.forget(self.replay_start())

    def _turn(self, lane: int) -> None:
        self.next_lane = (lane + 1) % max(1, self.plan.lanes)

    def _cut_if_complete(self) -> None:
        """Take the lanes' snapshots together where each is of its last batch so far."""
        if self._lanes is None or not self._interval or self.batches % self._interval:
            return
        for lane in self._lanes:
            if lane.latest.ordinal != lane.delivered:
                return
        self._cut = tuple([lane.latest for lane in self._lanes])
        self._cut_at = self.batches

    # Documents

    def reports(self, reports: dict[int, Snapshot | None]) -> None:
        """Take the states in which an epoch found the lanes' datasets."""
        if self._lanes is None:
            return
        entries = [_entry(base) for base in self._cut]
        for lane, snapshot in reports.items():
            if snapshot is not None and snapshot.trouble is None:
                entries[lane] = _Taken(snapshot, 0).entry()
        self._cut = tuple(entries)
        self._lanes = [LaneProgress(entry) for entry in entries]

    def finish(self, reports: dict[int, Snapshot | None]) -> None:
        """Note that the end was seen, and the states that the datasets had then."""
        self.moved = True
        self.finished = True
        self._reports = reports

    @property
    def returnable(self) -> bool:
        """Whether lanes that went on into the next epoch can be put back to its beginning."""
        return self.iterable or all(
            snapshot is not None and snapshot.trouble is None for snapshot in self._reports.values()
        )

    def document(self) -> Document:
        """Return the frozen document of the delivered position."""
        if self.finished:
            return self.next_epoch()
        sampler, carried = self.order.state(self.reach, self.replay_start())
        position = Position(
            self.epoch, self.batches, self.samples, self.digest, self.delivery.ahead(), carried
        )
        return Document(self.plan, position, sampler, self._lanes_here())

    def _lanes_here(self) -> LanesState | None:
        if self._lanes is None:
            return None
        if self.iterable:
            entries = tuple(lane.entry() for lane in self._lanes)
        else:
            entries = tuple(
                replace(_entry(base), replay=lane.delivered - max(0, base.ordinal))
                for base, lane in zip(self._cut, self._lanes, strict=True)
            )
        return LanesState(self.next_lane, entries)

    def next_epoch(self) -> Document:
        """Return the frozen document of the next epoch's start, from here."""
        sampler, carried = self.order.boundary(self.reach, ended=self.finished)
        digest = None if sampler is None else DIGEST_START
        position = Position(self.epoch + 1, 0, 0, digest, carried=carried)
        return Document(self.plan, position, sampler, self._lanes_next())

    def _lanes_next(self) -> LanesState | None:
        if self._lanes is None:
            return None
        lanes = fresh_lanes(self.plan)
        if self.plan.lifetime == "epoch" or not self._stateful:
            return lanes
        if self.iterable:
            return replace(lanes, entries=tuple(lane.boundary() for lane in self._lanes))
        reports = self._reports if self.finished else {}
        entries = [
            FRESH
            if snapshot is None or snapshot.trouble is not None
            else _Taken(snapshot, 0).entry()
            for snapshot in (reports.get(lane) for lane in range(len(self._lanes)))
        ]
        return replace(lanes, entries=tuple(entries))
