"""A model of ranks that share one plan: pure functions, and a rank that computes with them alone.

The order of samples is the plan's; the ranks divide it. A position names no rank, so the state of
one rank is that of all, and any number of ranks continues it. ``rationale/ranks.md`` gives the
reasons. ``Rank`` is a rank of a map-style dataset without a state, ``LaneRank`` one of a dataset
with lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from second import permutation, words


class RecutError(ValueError):
    """The global batch size differs, so that the steps of the saved epoch would be cut anew."""


class MergeError(ValueError):
    """Parts that are not one state, each lane once."""


# Map-style datasets


@dataclass(frozen=True)
class Plan:
    """The samples of every step follow from it; ``batch`` is the global batch size."""

    length: int
    batch: int
    tail: str = "keep"
    seed: int = 0


@dataclass(frozen=True)
class Position:
    """A position within an epoch: ``start`` samples before the cut, then ``steps`` of a plan."""

    epoch: int = 0
    start: int = 0
    steps: int = 0
    carried: tuple[int, ...] = ()


State = tuple[Plan, Position]


def sequence(plan: Plan, position: Position) -> list[int]:
    """Return the ids of the position's epoch, those that were carried into it first."""
    element = permutation(plan.length, words(plan.seed, "order", position.epoch)[0])
    return [*position.carried, *map(element, range(plan.length))]


def consumed(plan: Plan, position: Position) -> int:
    """Return the samples of the epoch before the position."""
    whole = plan.length + len(position.carried)
    return min(whole, position.start + position.steps * plan.batch)


def next_step(plan: Plan, position: Position) -> list[tuple[int, int]]:
    """Return the samples of the next step as (place in the epoch, id); none at the epoch's end."""
    at, ids = consumed(plan, position), sequence(plan, position)
    found = list(enumerate(ids))[at : at + plan.batch]
    return found if plan.tail == "keep" or len(found) == plan.batch else []


def padded(step: list[tuple[int, int]], ids: Sequence[int], world: int) -> list[tuple[int, int]]:
    """Return a step that all ranks share equally: the epoch's first ids fill it up.

    They have places behind the epoch's last one, so they draw other numbers than the first time.
    """
    missing = -len(step) % world
    return step + [(len(ids) + i, ids[i % len(ids)]) for i in range(missing)]


def share(step: list[tuple[int, int]], rank: int, world: int) -> list[tuple[int, int]]:
    """Return the contiguous share of one rank."""
    size = len(step) // world
    return step[rank * size : (rank + 1) * size]


def draw(plan: Plan, epoch: int, place: int) -> int:
    """Return the seed of a sample: it follows from the place alone, and so from no rank."""
    return words(plan.seed, "sample", epoch, place)[0]


class Rank:
    """One rank's loader. It knows its number and how many ranks there are, and asks no other."""

    def __init__(self, plan: Plan, rank: int = 0, world: int = 1) -> None:
        if plan.batch % world:
            raise ValueError(f"{world} ranks cannot share a global batch of {plan.batch} equally")
        self.plan, self.rank, self.world = plan, rank, world
        self.position = Position()

    def deliver(self) -> list[tuple[int, int]] | None:
        """Return this rank's share of the next step; None at the end, after which the next epoch
        begins."""
        step, ids = next_step(self.plan, self.position), sequence(self.plan, self.position)
        if step:
            self.position = replace(self.position, steps=self.position.steps + 1)
            return share(padded(step, ids, self.world), self.rank, self.world)
        left = ids[consumed(self.plan, self.position) :] if self.plan.tail == "rollover" else []
        self.position = Position(self.position.epoch + 1, carried=tuple(left))
        return None

    def leave(self) -> None:
        """Break the epoch off, if a step of it was delivered."""
        if self.position.start or self.position.steps:
            self.position = Position(self.position.epoch + 1)

    def state(self) -> State:
        """Return the state: the same on each rank."""
        return self.plan, self.position

    def load(self, state: State, *, recut: bool = False) -> None:
        """Continue from a state of any number of ranks.

        Raises:
            RecutError: the steps have another size, and ``recut`` does not allow that.
        """
        plan, position = state
        if plan.batch != self.plan.batch and not recut:
            raise RecutError(f"steps of {plan.batch} samples, here {self.plan.batch}")
        self.plan, self.position = replace(plan, batch=self.plan.batch), position
        if plan.batch != self.plan.batch and position.steps:
            self.position = replace(position, start=consumed(plan, position), steps=0)


# Datasets with lanes


@dataclass(frozen=True)
class Lane:
    """A lane's entry: the batches delivered from it, and whether its end was seen."""

    delivered: int = 0
    ended: bool = False


@dataclass(frozen=True)
class Lanes:
    """A state of some lanes of an epoch; it is whole if it has all of them."""

    epoch: int
    count: int
    entries: tuple[tuple[int, Lane], ...]

    @property
    def whole(self) -> bool:
        return len(self.entries) == self.count


def merge(parts: Sequence[Lanes]) -> Lanes:
    """Return the whole of the ranks' parts.

    Raises:
        MergeError: the parts are of several epochs or runs, or lack a lane, or have one twice.
    """
    if len({(part.epoch, part.count) for part in parts}) != 1:
        raise MergeError("the parts are of several positions")
    entries = sorted((entry for part in parts for entry in part.entries), key=lambda e: e[0])
    if [number for number, _ in entries] != list(range(parts[0].count)):
        raise MergeError("the parts do not have each lane once")
    return Lanes(parts[0].epoch, parts[0].count, tuple(entries))


def turns(plan: Plan, count: int) -> list[int]:
    """Return the batches of each of ``count`` lanes of a map-style dataset with a state.

    Batch i of the plan, whose size is that of one rank, is of lane i mod ``count``.
    """
    whole = plan.length // plan.batch
    batches = -(-plan.length // plan.batch) if plan.tail == "keep" else whole
    return [len(range(lane, batches, count)) for lane in range(count)]


class LaneRank:
    """One rank's loader of a dataset with lanes: it runs the lanes l with l % world == rank.

    ``lengths`` are the batches of each lane: those of ``turns``, or what the streams hold, which no
    rank knows before.
    """

    def __init__(self, lengths: Sequence[int], rank: int = 0, world: int = 1) -> None:
        if len(lengths) % world:
            raise ValueError(f"{world} ranks cannot share {len(lengths)} lanes equally")
        self.lengths, self.rank, self.world = lengths, rank, world
        self.load(Lanes(0, len(lengths), tuple((i, Lane()) for i in range(len(lengths)))))

    def load(self, state: Lanes) -> None:
        """Continue from a whole state, of any number of ranks, or from a part of this rank's."""
        mine = {number: lane for number, lane in state.entries if number % self.world == self.rank}
        if len(mine) * self.world != state.count:
            raise MergeError("lanes of this rank are missing; merge the parts of all ranks first")
        self.epoch, self.lanes = state.epoch, mine

    def deliver(self) -> tuple[int, int] | None:
        """Return the next batch as (lane, ordinal); None if all lanes have ended.

        The living lanes have turns. They were asked equally often, so the first of those with the
        fewest batches is next, and a state need not say which it is.
        """
        while living := [n for n, lane in self.lanes.items() if not lane.ended]:
            number = min(living, key=lambda n: (self.lanes[n].delivered, n))
            lane = self.lanes[number]
            if lane.delivered < self.lengths[number]:
                self.lanes[number] = replace(lane, delivered=lane.delivered + 1)
                return number, lane.delivered
            self.lanes[number] = replace(lane, ended=True)
        return None

    def next_epoch(self) -> None:
        """Begin the next epoch."""
        self.epoch += 1
        self.lanes = dict.fromkeys(self.lanes, Lane())

    def state(self) -> Lanes:
        """Return this rank's part."""
        return Lanes(self.epoch, len(self.lengths), tuple(sorted(self.lanes.items())))
