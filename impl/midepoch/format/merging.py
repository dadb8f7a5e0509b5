"""States of ranks that have some of the lanes each: a whole of the parts, parts of it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from midepoch.errors import RanksError, StateFormatError
from midepoch.format.dealing import batches_of, lanes_of, next_lane
from midepoch.format.parts import LaneEntry, LanesState, Share
from midepoch.format.plan import compare
from midepoch.format.state import Document

__all__ = ["loadable_part", "merged", "part_of"]


def loadable_part(document: Document, share: Share | None) -> Document:
    """Return what one rank loads of a document: its own part as it is, or its part of a whole.

    Raises:
        StateFormatError: the document is the part of another rank, also of another number of ranks
            (RANK-15), or the ranks cannot divide the lanes.
    """
    saved = document.position.share
    if saved is not None and saved != share:
        here = "has all lanes" if share is None else f"is rank {share.rank} of {share.world}"
        raise StateFormatError(
            f"these are the lanes of rank {saved.rank} of {saved.world}, and the loader here "
            f"{here}: load this rank's own state, or give the states of all ranks to "
            "midepoch.merge_states and load what it returns on each",
            "$.position.share",
        )
    return part_of(document, share)


def part_of(document: Document, share: Share | None) -> Document:
    """Return the part of a document that has the lanes of ``share``; of ``None``, the whole of it.

    Raises:
        StateFormatError: the ranks cannot divide the lanes.
    """
    plan, lanes, saved = document.plan, document.lanes, document.position.share
    if lanes is None or saved == share:
        return document
    if share is not None and plan.lanes % share.world:
        raise StateFormatError(
            f"{share.world} ranks cannot share {plan.lanes} lanes equally: resume on a number of "
            f"ranks that divides {plan.lanes}, or begin a run with another lanes=",
            "$.plan.lanes",
        )
    there, own = lanes_of(plan, saved), lanes_of(plan, share)
    return _with(document, own, [lanes.entries[there.index(lane)] for lane in own], share)


def merged(documents: Sequence[Document], share: Share | None = None) -> Document:
    """Return the document of all lanes, or of one rank's, made of parts of it in any order.

    Raises:
        RanksError: they are not the parts of one position; the ranks are named.
    """
    parts = _by_rank(documents)
    first = parts[min(parts)]
    world = first.position.share.world if first.position.share is not None else 1
    own = lanes_of(first.plan, share)
    missing = sorted({lane % world for lane in own} - parts.keys())
    if missing:
        names = ", ".join(map(str, missing))
        raise RanksError(f"of {world} ranks, these have no state here: {names}")
    _check_places(parts)
    entries = [_entry(parts[lane % world], lane // world) for lane in own]
    _check_turns(first, entries)
    steps = max(part.position.batches for part in parts.values())
    position = replace(first.position, batches=steps)
    return _with(replace(first, position=position), own, entries, share)


def _by_rank(documents: Sequence[Document]) -> dict[int, Document]:
    parts: dict[int, Document] = {}
    for document in documents:
        share = document.position.share
        if share is None or not document.plan.dealt:
            raise RanksError(
                "expected the states of ranks to which lanes are dealt, and one of these is of no "
                "such rank: a state that is whole already needs no other"
            )
        if share.rank in parts:
            raise RanksError(f"two states are of rank {share.rank}")
        parts[share.rank] = document
        first = documents[0]
        world = 1 if first.position.share is None else first.position.share.world
        if share.world != world:
            raise RanksError(
                f"rank {share.rank} is one of {share.world} ranks, and others are of {world}"
            )
        differences = compare(first.plan, document.plan)
        if differences:
            names = ", ".join(pair.field for pair in differences)
            raise RanksError(f"the plans of the ranks differ: that of rank {share.rank} in {names}")
    if not parts:
        raise RanksError("expected the states of all ranks, got none")
    return parts


def _check_places(parts: dict[int, Document]) -> None:
    places = {rank: (part.position.epoch, part.position.batches) for rank, part in parts.items()}
    epoch, steps = most = max(places.values())
    late = [
        rank for rank, place in places.items() if place != most and not _over(parts[rank], epoch)
    ]
    if late:
        told = ", ".join(
            f"rank {rank} after {places[rank][1]} batches of epoch {places[rank][0]}"
            for rank in sorted(late)
        )
        raise RanksError(
            f"the ranks are not at one position: {told}, others after {steps} of epoch {epoch}"
        )


def _check_turns(first: Document, entries: Sequence[LaneEntry]) -> None:
    """Refuse map-style lanes from which batches were not delivered in turn (VAL-7)."""
    counts = [entry.delivered for entry in entries]
    in_turn = [len(range(i, sum(counts), len(counts))) for i in range(len(counts))]
    if first.plan.dataset == "map" and counts != in_turn:
        raise RanksError(
            f"the ranks are not at one position: their lanes delivered {counts} batches, and "
            f"lanes in turn deliver {in_turn}; give states that one run took at one step"
        )


def _over(part: Document, epoch: int) -> bool:
    """Tell whether a rank has delivered all of its lanes in this epoch, and waits for others."""
    if part.position.epoch != epoch or part.lanes is None:
        return False
    if part.plan.dataset == "map":
        return part.delivered == batches_of(part.plan, part.position.share)
    return all(entry.ended for entry in part.lanes.entries)


def _entry(part: Document, index: int) -> LaneEntry:
    assert part.lanes is not None  # VAL-12
    return part.lanes.entries[index]


def _with(
    document: Document, lanes: range, entries: Sequence[LaneEntry], share: Share | None
) -> Document:
    samples = sum(entry.samples or 0 for entry in entries)
    position = replace(document.position, samples=samples, share=share)
    state = LanesState(next_lane(entries, lanes), tuple(entries))
    return replace(document, position=position, lanes=state)
