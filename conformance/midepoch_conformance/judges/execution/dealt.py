"""Ranks to which the lanes of a plan are dealt, beside one rank alone: the first session."""

from __future__ import annotations

import itertools
from collections import Counter

from midepoch_conformance.case.case import OF_DEALT_RANKS
from midepoch_conformance.case.stages import in_one_order, lane_batches, lanes_in_turn
from midepoch_conformance.case.trace import Batch
from midepoch_conformance.judges.execution.staged import through_stages
from midepoch_conformance.judges.execution.world import fault_of_rank, one_rank
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import Evidence, Piece
from midepoch_conformance.verdict.finding import Finding

__all__: list[str] = []


@judge("WORLD-9", "dealt ranks", alone=True)
def each_batch_once(view: View) -> Finding | None:
    """The ranks together deliver each batch of one rank alone once, and in its order."""
    return _together(view, [], range(1, len(view.case.sessions)))


@judge("WORLD-10", "merged ranks", "merged ranks at an end", OF_DEALT_RANKS, alone=True)
def each_lane_goes_on(view: View) -> Finding | None:
    """What the ranks' states make together resumes any number of ranks."""
    if view.case.probe == OF_DEALT_RANKS:
        return through_stages(view)
    sessions = range(1, len(view.case.sessions))
    loads = [any(s.do == "load_merged" for s in p.steps) for p in view.case.sessions]
    before, after = ([i for i in sessions if loads[i] is loaded] for loaded in (False, True))
    return _together(view, before, after)


@judge("WORLD-11", "uneven lanes in a group", alone=True)
def ends_together(view: View) -> Finding | None:
    """Ranks that end epochs together deliver as many batches as the one that has the fewest."""
    apart, together = None, False
    for index, plan in enumerate(view.case.sessions):
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        failed = fault_of_rank(view, index)
        if failed is not None:
            return failed
        world, lanes = plan.execution.world, plan.execution.lanes or 1
        counts = lane_batches(view.case.workload, lanes)
        left = [count - done for count, done in zip(counts, _done(view, index), strict=True)]
        for epoch, batches in enumerate(expected.epochs_of(session)):
            of_lane = counts if epoch else left
            due = min(sum(of_lane[rank::world]) for rank in range(world))
            wrong = _at_an_end(view, index, epoch, batches, due)
            before = [] if epoch else _saved(view, index)
            if wrong is None:
                together = together or due * world < sum(of_lane)
            elif len(batches) > due and _all_come(view, [*before, *batches], sum(counts)):
                apart = apart or wrong
            else:
                return wrong
    if apart is None:
        return view.passed()
    # RANK-16 leaves it to a loader whether its ranks end together.
    return apart if together else None


def _at_an_end(
    view: View, index: int, epoch: int, batches: list[Batch], due: int
) -> Finding | None:
    """Return how ranks do not end an epoch together after the steps that are due."""
    x = view.case.sessions[index].execution
    for step, batch in enumerate(batches):
        missing = _absent(batch, x.lanes or 1, x.world)
        if missing:
            words = f"in step {step} of epoch {epoch} ranks {sorted(missing)} of {x.world} have"
            words += f" no batch, and the others deliver {compare.show([batch])}"
            evidence = Evidence("batches", index, epoch=epoch)
            return view.silent("different", words, batches[:step], batches, evidence)
    if len(batches) == due:
        return None
    words = f"in epoch {epoch} the ranks deliver {len(batches)} batches each,"
    words += f" and the rank with the fewest has {due}"
    return view.fails("different", words, due, len(batches))


def _absent(batch: Batch, lanes: int, world: int) -> set[int]:
    """Return the ranks that delivered nothing of what all delivered at a step."""
    return {*range(world)} - {int(row[0]) % lanes % world for row in batch}


def _all_come(view: View, batches: list[Batch], whole: int) -> bool:
    """Tell whether an epoch's ``whole`` batches are all delivered; a tail may be dropped."""
    w = view.case.workload
    return compare.unwhole(batches, w.n, max(0, w.n - whole * w.batch_size)) is None


def _saved(view: View, index: int) -> list[Batch]:
    """Return what the session before has delivered when it saves."""
    events = view.events(index - 1) if index else []
    before = itertools.takewhile(lambda event: event.do != "save", events)
    return [batch for event in before for batch in event.batches]


def _done(view: View, index: int) -> list[int]:
    """Return how many batches of each lane the session before has delivered when it saves."""
    w, lanes = view.case.workload, view.case.sessions[0].execution.lanes or 1
    rows = [0] * lanes
    for row in itertools.chain.from_iterable(_saved(view, index)):
        rows[int(row[0]) % lanes] += 1
    return [-(-count // w.batch_size) for count in rows]


def _together(view: View, before: list[int], after: range | list[int]) -> Finding:
    """Judge what ranks deliver after others that saved their states."""
    alone = one_rank(view)
    if isinstance(alone, Finding):
        return alone
    for index in (*before, *after):
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        failed = fault_of_rank(view, index)
        if failed is not None and index in before:
            return view.blocked(f"no state is saved: {failed.words}")
        if failed is not None:
            return failed
    whole = expected.epochs_of(alone)
    for epoch, batches in enumerate(whole):
        saved = [batch for i in before if not epoch for batch in _of(view, i, 0)]
        found = _of_epoch(view, epoch, batches, saved, list(before), list(after))
        if found is not None:
            return found
    return view.passed()


def _of_epoch(
    view: View,
    epoch: int,
    batches: list[Batch],
    saved: list[Batch],
    before: list[int],
    after: list[int],
) -> Finding | None:
    world = len(after)
    w, lanes = view.case.workload, view.case.sessions[0].execution.lanes or 1
    sure = in_one_order(w, lanes)
    fewest = _together_until(view, batches, saved, [_of(view, index, epoch) for index in after])
    for rank, index in enumerate(after):
        got = _of(view, index, epoch)
        due = [batches[at] for at in range(len(saved), sure) if at % world == rank][:fewest]
        if got[: len(due)] != due:
            ids = [_ids(batch) for batch in got[: len(due)]] == [_ids(batch) for batch in due]
            words = f"in epoch {epoch} rank {rank} of {world} delivers {compare.show(got)}"
            words += f", and {compare.show(due)} come first"
            evidence = Evidence("batches", index, epoch=epoch)
            kind = "values" if ids else "different"
            return view.silent(kind, words, [*due, *got[len(due) :]], got, evidence)
    every = [*saved, *(batch for index in after for batch in _of(view, index, epoch))]
    delivered, wanted = Counter(map(str, every)), Counter(map(str, batches))
    if delivered == wanted or (fewest is not None and delivered <= wanted):
        return None
    wrong = compare.unwhole(every, w.n)
    if wrong is None:
        words = f"in epoch {epoch} the ranks deliver other batches of the samples than one rank"
        return view.silent("different", words, batches, every)
    pieces = [Piece(index, 0, epoch) for index in (*(before if not epoch else ()), *after)]
    evidence = Evidence("samples", after[-1], pieces=tuple(pieces), wanted=(w.n,))
    words = f"in epoch {epoch} the ranks together deliver {compare.show(every)}: {wrong.words}"
    return view.silent(wrong.kind, words, batches, every, evidence)


def _together_until(
    view: View, batches: list[Batch], saved: list[Batch], got: list[list[Batch]]
) -> int | None:
    """Return after how many steps all ranks end, if one of them has no further batch there.

    RANK-16 leaves out what the others have then. Return None if the ranks do not end together.
    """
    world, lanes = len(got), view.case.sessions[0].execution.lanes or 1
    of_lane = lane_batches(view.case.workload, lanes)
    alone = lanes_in_turn(of_lane, [0] * lanes, range(lanes))
    if len(alone) != len(batches):
        return None
    left = [lane for lane, batch in zip(alone, batches, strict=True) if batch not in saved]
    fewest = min(sum(lane % world == rank for lane in left) for rank in range(world))
    return fewest if all(len(of_rank) == fewest for of_rank in got) else None


def _of(view: View, index: int, epoch: int) -> list[Batch]:
    session = view.session(index)
    epochs = [] if session is None else expected.epochs_of(session)
    return epochs[epoch] if epoch < len(epochs) else []


def _ids(batch: Batch) -> list[float]:
    return [row[0] for row in batch]
