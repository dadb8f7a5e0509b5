"""Lanes that are dealt to ranks: whose they are, which is next, what their states say (pure).

Rank r of R has the lanes r, r + R, r + 2R and so on. The state of one rank has the entries of these
lanes, and says whose they are by ``position.share``; a state without a share has all entries.
"""

from __future__ import annotations

from collections.abc import Sequence

from midepoch.errors import StateFormatError
from midepoch.format.parts import LaneEntry, LanesState, Position, Share
from midepoch.format.plan import Plan

__all__ = ["batches_of", "check_dealt", "lanes_of", "next_lane"]


def lanes_of(plan: Plan, share: Share | None) -> range:
    """Return the lanes of a rank; of ``None``, all lanes.

    >>> plan = Plan("iterable", None, "none", None, 7, 4, "keep", 6, "epoch")
    >>> list(lanes_of(plan, Share(1, 3)))
    [1, 4]
    """
    rank, world = (0, 1) if share is None else share
    return range(rank, max(1, plan.lanes), world)


def batches_of(plan: Plan, share: Share | None) -> int:
    """Return how many batches of a built-in order's epoch a rank has; ``None``: all of them.

    Rank r of R has the batches r, r + R and so on, which are those of its lanes. A lane is as one
    of so many ranks as there are lanes.

    >>> plan = Plan("map", 10, "shuffle", None, 7, 4, "keep", 6, "epoch")
    >>> [batches_of(plan, share) for share in (None, Share(0, 2), Share(1, 2), Share(5, 6))]
    [3, 2, 1, 0]
    """
    length, size = plan.length or 0, plan.batch_size or 1
    count = -(-length // size) if plan.tail == "keep" else length // size
    rank, world = (0, 1) if share is None else share
    return len(range(rank, count, world))


def next_lane(entries: Sequence[LaneEntry], lanes: range) -> int:
    """Return the lane that has the next turn: of those with the fewest batches, the first.

    Lanes that have ended have no turn; if all have, it is the first lane.
    """
    turns = [
        (entry.delivered, lane)
        for entry, lane in zip(entries, lanes, strict=True)
        if not entry.ended
    ]
    return min(turns)[1] if turns else lanes[0]


def check_dealt(plan: Plan, position: Position, lanes: LanesState) -> None:
    """Refuse a document with lanes for ranks whose parts contradict each other.

    Raises:
        StateFormatError: the first fault found (VAL-12).
    """
    own, world = lanes_of(plan, position.share), 1
    if position.share is not None:
        world = position.share.world
        if world < 2 or plan.lanes % world:
            raise StateFormatError(
                f"expected at least 2 ranks that divide {plan.lanes} lanes, got {world}",
                "$.position.share.world",
            )
    if len(lanes.entries) != len(own):
        raise StateFormatError(
            f"expected {len(own)} (the lanes of one of {world} ranks), got {len(lanes.entries)}",
            "$.lanes.entries",
        )
    for i, (lane, entry) in enumerate(zip(own, lanes.entries, strict=True)):
        path = f"$.lanes.entries[{i}]"
        if plan.dataset == "map":
            _check_batches(entry, lane, plan, path)
        else:
            _check_samples(entry, plan, f"{path}.samples")
    samples = sum(entry.samples or 0 for entry in lanes.entries)
    if samples != position.samples:
        raise StateFormatError(
            f"the entries' samples add up to {samples}, not to {position.samples}",
            "$.position.samples",
        )
    if not position.batches and any(entry.delivered for entry in lanes.entries):
        raise StateFormatError(
            "expected no batches of any lane before the first step", "$.lanes.entries"
        )
    expected = next_lane(lanes.entries, own)
    if lanes.next != expected:
        raise StateFormatError(
            f"expected {expected} (of the lanes with the fewest batches, the first), got "
            f"{lanes.next}",
            "$.lanes.next",
        )


def _check_batches(entry: LaneEntry, lane: int, plan: Plan, path: str) -> None:
    """Refuse other batches, or samples, of a map-style lane than the plan has for it."""
    most, every = batches_of(plan, Share(lane, plan.lanes)), batches_of(plan, None)
    if entry.delivered > most:
        raise StateFormatError(
            f"expected at most {most} (the batches of lane {lane} in the plan's epoch), got "
            f"{entry.delivered}",
            path,
        )
    size = plan.batch_size or 1
    samples = entry.delivered * size
    if samples and entry.delivered == most and (every - 1) % plan.lanes == lane:
        samples = min(samples, samples - every * size + (plan.length or 0))
    if entry.samples != samples:
        raise StateFormatError(
            f"expected {samples} (the samples in these batches), got {entry.samples}",
            f"{path}.samples",
        )


def _check_samples(entry: LaneEntry, plan: Plan, path: str) -> None:
    most = entry.delivered * (plan.batch_size or 1)
    if entry.samples is None or entry.samples > most:
        raise StateFormatError(
            f"expected at most {most} (the most samples in these batches), got {entry.samples}",
            path,
        )
