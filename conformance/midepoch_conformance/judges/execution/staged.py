"""Histories whose number of ranks changes, beside one rank alone: the first session."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

from midepoch_conformance.case.case import OF_CUT_RANKS, CaseError
from midepoch_conformance.case.stages import (
    Cut,
    Part,
    cuts_of,
    in_one_order,
    lane_batches,
    lanes_in_turn,
    parts_of,
    stages_of,
)
from midepoch_conformance.case.trace import Batch
from midepoch_conformance.judges.execution.world import fault_of_rank, one_rank
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.expected import Epochs
from midepoch_conformance.verdict.finding import Finding

__all__ = ["is_filled", "through_stages"]


def through_stages(view: View) -> Finding:
    """Compare what each stage's ranks deliver with one rank's batches from its position on."""
    alone = one_rank(view)
    if isinstance(alone, Finding):
        return alone
    whole, cut_anew = expected.epochs_of(alone), view.case.probe == OF_CUT_RANKS
    try:
        found = stages_of(view.case)
        parts = (cuts_of if cut_anew else parts_of)(view.case.workload, found)
    except CaseError as error:
        return view.blocked(str(error))
    first = 1
    for number, stage in enumerate(found):
        world = stage.execution.world
        ranks = range(first, first + world)
        for index in ranks:
            if view.session(index) is None:
                return view.blocked("the play did not get there")
            failed = fault_of_rank(view, index)
            if failed is not None:
                return failed if number else view.blocked(f"nothing is saved: {failed.words}")
        if number and _after_an_end(parts[number]) and _begins_empty(view, ranks):
            # EPOCH-2 allows it, but all later positions are now in other epochs.
            return view.blocked("the state of an epoch's end resumes with an empty epoch")
        wrong = _of_stage(view, whole, parts[number], ranks)
        if wrong is not None:
            return wrong if number else view.blocked(f"before any load, {wrong.words}")
        first += world
    return view.passed()


def _after_an_end(parts: Sequence[Part | Cut]) -> bool:
    """Tell whether a stage goes on from a state that was saved between two epochs."""
    return bool(parts) and parts[0].epoch > 0 and parts[0].first == 0


def _begins_empty(view: View, ranks: range) -> bool:
    """Tell whether the first epoch of each rank ends without a batch."""
    sessions = [view.session(index) for index in ranks]
    found = [expected.epochs_of(session) for session in sessions if session is not None]
    return len(found) == len(ranks) and all(epochs[:1] == [[]] for epochs in found)


def _of_stage(
    view: View, whole: Epochs, parts: Sequence[Part | Cut], ranks: range
) -> Finding | None:
    passed_over = 0
    if parts and isinstance(parts[0], Cut) and not parts[0].steps:
        # EPOCH-2 lets a loader skip the rest of an epoch that has no batch.
        parts, passed_over = parts[1:], int(_begins_empty(view, ranks))
    for place, part in enumerate(parts, start=passed_over):
        if part.epoch >= len(whole):
            return view.blocked("one rank alone has fewer epochs")
        got: list[list[Batch]] = []
        for index in ranks:
            session = view.session(index)
            epochs = [] if session is None else expected.epochs_of(session)
            got.append(epochs[place] if place < len(epochs) else [])
        if isinstance(part, Cut):
            found = _cut_anew(view, whole, part, got, ranks[0], place)
        else:
            judged = _lanes if view.case.workload.ranks == "dealt" else _shares
            found = judged(view, whole[part.epoch], part, got, ranks[0], place)
        if found is not None:
            return found
    return None


def _cut_anew(
    view: View, whole: Epochs, cut: Cut, got: list[list[Batch]], first: int, place: int
) -> Finding | None:
    """Compare the samples of each step with those of one rank alone, which come one by one."""
    if any(len(epoch) != view.case.workload.n for epoch in whole):
        return view.blocked("one rank alone delivers other batches")
    world = len(got)
    due: list[list[Batch]] = [[] for _ in got]
    for step in cut.steps:
        size = len(step) // world
        rows = [whole[epoch][at][0] for epoch, at in step]
        for rank in range(world):
            due[rank].append(rows[rank * size : (rank + 1) * size])
    if _steps(got) == _steps(due):
        return None  # how a step's samples are dealt to the ranks, WORLD-3 judges
    rank = next(rank for rank in range(world) if got[rank] != due[rank])
    ids = [row[0] for batch in got[rank] for row in batch]
    words = f"in epoch {cut.epoch}, after {cut.first} samples, rank {rank} of {world} delivers"
    words += f" {compare.show(got[rank])}, and {compare.show(due[rank])} is due"
    kind = "repeated" if len({*ids}) < len(ids) else "different"
    evidence = Evidence("batches", first + rank, epoch=place)
    return view.silent(kind, words, due[rank], got[rank], evidence)


def _shares(
    view: View, batches: list[Batch], part: Part, got: list[list[Batch]], first: int, place: int
) -> Finding | None:
    """Compare each step of ranks that share the batches."""
    world, rows = len(got), [row for batch in batches for row in batch]
    due: list[list[Batch]] = [[] for _ in got]
    for step, batch in enumerate(batches[part.first : part.end]):
        last = part.first + step + 1 == len(batches)
        came = [of_rank[step] if step < len(of_rank) else [] for of_rank in got]
        shares = _filled_up(batch, came, rows) if last else None
        for of_rank, share in zip(due, shares or _in_parts(batch, came, rows, last), strict=True):
            of_rank.append(share)
    if _steps(got) == _steps(due):
        return None  # how a step's samples are dealt to the ranks, WORLD-3 judges
    for rank, share_of in enumerate(due):
        if got[rank] == share_of:
            continue
        values = list(map(_ids, got[rank])) == list(map(_ids, share_of))
        return _wrong(view, part, rank, world, share_of, got[rank], first, place, values)
    return None


def _filled_up(batch: Batch, came: list[Batch], rows: Batch) -> list[Batch] | None:
    """Return the shares of an epoch's last batch as they came, if its samples are all there.

    Any number of samples of the epoch's beginning may follow them, and draw other numbers than the
    first time. Return None if other samples came.
    """
    together = [row for share in came for row in share]
    own, more = together[: len(batch)], together[len(batch) :]
    if _ids(own) != _ids(batch) or not is_filled(_ids(more), _ids(rows)):
        return None
    right = iter([*batch, *more])
    return [list(itertools.islice(right, len(share))) for share in came]


def _in_parts(batch: Batch, came: list[Batch], rows: Batch, last: bool) -> list[Batch]:
    """Return equal shares of a batch; the epoch's beginning, ``rows``, fills its last one up."""
    world = len(came)
    size = -(-len(batch) // world)
    more = [rows[i % len(rows)] for i in range(size * world - len(batch))] if last else []
    found: list[Batch] = []
    for rank, mine in enumerate(came):
        share = [*batch, *more][rank * size : (rank + 1) * size]
        # Samples that fill up a step may come, and draw other numbers than the first time.
        own = max(0, min(size, len(batch) - rank * size))
        filling = _ids(mine[own:]) == _ids(share[own : len(mine)])
        found.append([*share[:own], *mine[own:]] if filling else share)
    return found


def is_filled(more: list[float], beginning: list[float]) -> bool:
    """Tell whether samples are those of an epoch's beginning, again and again if they run out."""
    return all(
        bool(beginning) and sample == beginning[i % len(beginning)] for i, sample in enumerate(more)
    )


def _steps(ranks: list[list[Batch]]) -> list[list[str]]:
    """Return the rows that the ranks deliver at each step, in an order of their own."""
    steps = itertools.zip_longest(*ranks, fillvalue=[])
    return [sorted(str(row) for batch in step for row in batch) for step in steps]


def _lanes(
    view: View, batches: list[Batch], part: Part, got: list[list[Batch]], first: int, place: int
) -> Finding | None:
    """Compare ranks to which lanes are dealt: in one rank's order until a lane ends."""
    w, world = view.case.workload, len(got)
    lanes = view.case.sessions[0].execution.lanes or 1
    counts = lane_batches(w, lanes)
    alone = lanes_in_turn(counts, [0] * lanes, range(lanes))
    if len(alone) != len(batches):
        return view.blocked("one rank alone delivers other batches")
    done = [alone[: part.first].count(lane) for lane in range(lanes)]
    numbers = {(lane, alone[:at].count(lane)): at for at, lane in enumerate(alone)}
    sure = in_one_order(w, lanes)
    due: list[list[int]] = []
    for rank in range(world):
        at, own = [*done], list[int]()
        for lane in lanes_in_turn(counts, done, range(rank, lanes, world)):
            own.append(numbers[lane, at[lane]])
            at[lane] += 1
        due.append([number for number in own if part.end is None or number < part.end])
    # After a lane's end each batch comes once, in any order.
    rest = _counted([batches[part.first : part.end]])
    complete = _counted(got) == rest
    fewest = min(map(len, due))
    if part.end is None and all(len(of_rank) == fewest for of_rank in got):
        # RANK-16 lets all ranks end before the first step for which one has no batch.
        due = [of_rank[:fewest] for of_rank in due]
        complete = _counted(got) <= rest
    for rank, of_rank in enumerate(due):
        early = [batches[number] for number in of_rank if number < sure]
        wanted = [batches[number] for number in of_rank]
        once = complete or _counted([got[rank]]) == _counted([wanted])
        if once and got[rank][: len(early)] == early:
            continue
        values = [*map(_ids, got[rank])] == [*map(_ids, wanted)]
        return _wrong(view, part, rank, world, wanted, got[rank], first, place, values)
    return None


def _wrong(
    view: View,
    part: Part,
    rank: int,
    world: int,
    due: list[Batch],
    got: list[Batch],
    first: int,
    place: int,
    values: bool,
) -> Finding:
    words = f"in epoch {part.epoch}, after {part.first} batches of one rank alone, rank {rank} of"
    words += f" {world} delivers {compare.show(got)}, and {compare.show(due)} is due"
    kind = "values" if values else "different"
    evidence = Evidence("batches", first + rank, epoch=place)
    found = view.silent(kind, words, due, got, evidence)
    if values and view.case.workload.ranks == "shared":
        return dataclasses.replace(found, needs=("WORLD-6",))
    return found


def _counted(parts: list[list[Batch]]) -> Counter[str]:
    return Counter(str(batch) for batches in parts for batch in batches)


def _ids(batch: Batch) -> list[float]:
    return [row[0] for row in batch]
