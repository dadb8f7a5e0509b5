"""How far an epoch was delivered, and the state document of that moment.

Users' parts stay frozen here; ``frozen`` and ``thawed`` convert whole documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from midepoch.encoding.canonical import DIGEST_START
from midepoch.epoch.execution import Execution
from midepoch.errors import StateEncodingError, type_name
from midepoch.format.dealing import lanes_of, next_lane
from midepoch.format.state import Document, LaneEntry, LanesState, Position
from midepoch.lane.messages import Batch, Failure, Snapshot
from midepoch.lane.progress import LaneProgress, Restorable, Taken, entry_of, fresh_lanes
from midepoch.sampling.batches import Order, Step
from midepoch.stateful import freeze, thaw

__all__ = ["Delivered", "Progress", "frozen", "thawed"]


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
            # A copy: the plain JSON values are the caller's.
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
    """Return a copy of a carried key, so that a document and the run share no object."""
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


class Delivered:
    """The delivered batches of an epoch: all below a low-water mark, and some above it (UNORD-1).

    >>> delivered = Delivered(2)
    >>> delivered.add(4)
    >>> delivered.add(3)
    >>> delivered.low, delivered.reach, delivered.count, delivered.ahead()
    (2, 5, 4, (3, 4))
    >>> delivered.add(2)
    >>> delivered.low, delivered.ahead()
    (5, ())
    """

    def __init__(self, count: int, ahead: Iterable[int] = ()) -> None:
        self._ahead = set(ahead)
        self.count = count
        self.low = count - len(self._ahead)
        """The first batch that was not delivered."""
        self.reach = max(self._ahead, default=self.low - 1) + 1
        """One more than the last batch that was delivered."""

    @classmethod
    def of(cls, document: Document) -> Delivered:
        """Return the deliveries that a document tells of; those of a rank count within it."""
        return cls(document.delivered, document.position.ahead)

    def add(self, index: int) -> None:
        """Note that batch ``index`` was delivered."""
        self.count += 1
        if index >= self.reach:
            self.reach = index + 1
        if index != self.low:
            self._ahead.add(index)
            return
        self.low += 1
        while self.low in self._ahead:
            self._ahead.remove(self.low)
            self.low += 1

    def __contains__(self, index: int) -> bool:
        return index < self.low or index in self._ahead

    def ahead(self) -> tuple[int, ...]:
        """Return the batches above the low-water mark, in increasing order."""
        return tuple(sorted(self._ahead))


class Progress:
    """The position of one epoch iterator; the loader asks it for the state after its end, too."""

    def __init__(self, document: Document, order: Order, execution: Execution) -> None:
        self.plan = document.plan
        self.iterable = document.plan.dataset == "iterable"
        """Whether the dataset is iterable-style."""
        self.epoch = document.position.epoch
        self.delivery = Delivered.of(document)
        self._of_others = document.position.batches - document.delivered
        """Steps in which this rank's lanes delivered nothing; below 0: more batches than steps."""
        self.samples = document.position.samples
        self.digest = document.position.digest
        self.order = order
        self._share = document.position.share
        self.moved = False
        """A batch was delivered, or the end was seen."""
        self.finished = False
        """The end was seen."""
        self._stateful = execution.stateful
        self._interval = execution.interval
        self._lanes: list[LaneProgress] | None = None
        self._cut: tuple[Restorable, ...] = ()
        self._cut_at = 0
        self._reports: dict[int, Snapshot | None] = {}
        self._begun_with: dict[int, Snapshot | None] = {}
        self._inherited: str | None = None
        self.next_lane = 0
        if document.lanes is not None:
            self._lanes = [LaneProgress(entry) for entry in document.lanes.entries]
            self.next_lane = document.lanes.next
            self._cut = document.lanes.entries
            self._cut_at = document.lanes.cut

    @property
    def batches(self) -> int:
        """Batches delivered in this epoch; under ranks, their steps."""
        return self.delivery.count + self._of_others

    @property
    def low(self) -> int:
        """The first batch that was not delivered."""
        return self.delivery.low

    @property
    def reach(self) -> int:
        """One more than the last batch delivered: the sampler's position."""
        return self.delivery.reach

    def lane_ended(self, lane: int) -> bool:
        """Tell whether the epoch has passed a lane's end."""
        return self._lanes is not None and self._lanes[lane].ended

    def replay_start(self) -> int:
        """Return the first batch to schedule; map-style lanes replay from their cut."""
        return self.low if self.iterable or self._lanes is None else self._cut_at

    # Advancing

    def passed_end(self, lane: int, snapshot: Snapshot | None) -> None:
        """Note that an iterable's lane answered with its end."""
        if self._lanes is not None:
            self._lanes[lane].end(snapshot)
        self._pass_turn(lane)

    def delivered(
        self,
        lane: int,
        step: Step | None,
        outcome: Batch | Failure,
        snapshot: Snapshot | None,
        content: str | None,
    ) -> None:
        """Count one batch, or an error in its place."""
        self.moved = True
        self.delivery.add(self.delivery.count if step is None else step.index)
        samples = outcome.samples if isinstance(outcome, Batch) else 0
        if step is not None:
            samples = step.samples
            if self.reach == step.index + 1:
                self.digest = step.digest
        self.samples += samples
        if self._lanes is not None:
            self._lanes[lane].deliver(outcome, snapshot, content, samples)
            if not self.iterable:
                self._cut_if_complete()
        self._pass_turn(lane)
        self.order.drop_snapshots(self.replay_start())

    def _pass_turn(self, lane: int) -> None:
        self.next_lane = (lane + 1) % max(1, self.plan.lanes)

    def _cut_if_complete(self) -> None:
        """Take the lanes' snapshots together if each is of its lane's last batch so far."""
        if self._lanes is None or not self._interval or self.delivery.count % self._interval:
            return
        for lane in self._lanes:
            if lane.latest.ordinal != lane.delivered:
                return
        self._cut = tuple([lane.latest for lane in self._lanes])
        self._cut_at = self.delivery.count
        # A lane that has delivered nothing yet is cut where the epoch began.
        begun_with = self._begun_with.items()
        self._begun_with = {i: one for i, one in begun_with if not self._lanes[i].delivered}

    # Documents

    @property
    def follows_left(self) -> bool:
        """Whether the pass before was left early, and has the newest snapshot of a lane."""
        lanes = self._lanes or ()
        return self.iterable and any(lane.latest.ordinal < 0 for lane in lanes)

    def found(self, reports: dict[int, Snapshot | None]) -> None:
        """Note the states of the lanes' datasets at the epoch's beginning.

        Those of a map-style dataset are as the epoch found them, those of an iterable as they are
        when its pass has begun.
        """
        if self._lanes is None or not reports:
            return
        if self.iterable:
            for number, snapshot in reports.items():
                self._lanes[number].begun(snapshot)
            return
        self._begun_with = reports
        entries = [entry_of(base) for base in self._cut]
        for lane, snapshot in reports.items():
            entries[lane] = _between(snapshot, entries[lane])
        self._cut = tuple(entries)
        self._lanes = [LaneProgress(entry) for entry in entries]

    def finish(self, reports: dict[int, Snapshot | None]) -> None:
        """Note that the end was seen, with the states of the datasets there."""
        self.moved = True
        self.finished = True
        self._reports = reports

    @property
    def returnable(self) -> bool:
        """Whether lanes that have begun the next epoch can be restored to its beginning."""
        return self.iterable or all(
            snapshot is not None and snapshot.trouble is None for snapshot in self._reports.values()
        )

    @property
    def trouble(self) -> str | None:
        """Why no document can tell the datasets' states, or None; see LANE-35."""
        if self.finished:
            return self.next_trouble
        if not self._lives_on:
            return None
        if self.iterable:
            restless = any(lane.latest.ordinal < 0 for lane in self._lanes or ())
            return self._inherited if restless else None
        return _trouble_of(self._begun_with)

    @property
    def next_trouble(self) -> str | None:
        """The same for the next epoch's start."""
        if not self._lives_on:
            return None
        if not self.iterable:
            return _trouble_of(self._reports)
        lanes = self._lanes or ()
        if any(lane.unknown for lane in lanes):
            return "in a whole epoch"
        untouched = any(lane.latest.ordinal < 0 and not lane.delivered for lane in lanes)
        return self._inherited if untouched else None

    @property
    def unasked(self) -> bool:
        """Whether a lane that lives on was restored within its pass, and gave nothing since."""
        lanes = self._lanes or () if self.iterable and self._lives_on else ()
        return any(lane.unasked for lane in lanes)

    @property
    def _lives_on(self) -> bool:
        """Whether the datasets enter the next epoch as this one leaves them."""
        return self._stateful and self.plan.lifetime == "run"

    def follow(self, before: Progress) -> None:
        """Go on with the datasets of another epoch's progress."""
        self._inherited = before.next_trouble if before.moved else before.trouble

    def document(self) -> Document:
        """Return the frozen document of the delivered position."""
        if self.finished:
            return self.next_epoch()
        sampler, carried = self.order.state(self.reach, self.replay_start())
        position = Position(
            self.epoch,
            self.batches,
            self.samples,
            self.digest,
            self.delivery.ahead(),
            carried,
            self._share,
        )
        return Document(self.plan, position, sampler, self._lanes_here())

    def _lanes_here(self) -> LanesState | None:
        if self._lanes is None:
            return None
        if self.iterable:
            entries = tuple(lane.entry() for lane in self._lanes)
        else:
            cut = map(entry_of, self._cut)
            entries = tuple(lane.since(entry) for entry, lane in zip(cut, self._lanes, strict=True))
        if self.plan.dealt:
            return LanesState(next_lane(entries, lanes_of(self.plan, self._share)), entries)
        return LanesState(self.next_lane, entries)

    def next_epoch(self) -> Document:
        """Return the frozen document of the next epoch's start, from here."""
        sampler, carried = self.order.next_epoch_state(self.reach, ended=self.finished)
        digest = None if sampler is None else DIGEST_START
        position = Position(self.epoch + 1, 0, 0, digest, carried=carried, share=self._share)
        return Document(self.plan, position, sampler, self._lanes_next())

    def _lanes_next(self) -> LanesState | None:
        if self._lanes is None:
            return None
        lanes = fresh_lanes(self.plan, self._share)
        if not self._lives_on:
            return lanes
        if self.iterable:
            return replace(lanes, entries=tuple(lane.next_epoch_entry() for lane in self._lanes))
        reports = self._reports if self.finished else {}
        entries = [_between(reports.get(i), fresh) for i, fresh in enumerate(lanes.entries)]
        return replace(lanes, entries=tuple(entries))


def _trouble_of(reports: dict[int, Snapshot | None]) -> str | None:
    """Return why one of these snapshots failed, or None."""
    found = (snapshot.trouble for snapshot in reports.values() if snapshot is not None)
    return next((trouble for trouble in found if trouble is not None), None)


def _between(snapshot: Snapshot | None, other: LaneEntry) -> LaneEntry:
    """Return a map-style lane's entry between two epochs; ``other`` without its state there."""
    if snapshot is None or snapshot.trouble is not None:
        return other
    return replace(Taken(snapshot, 0).entry(), samples=other.samples)
