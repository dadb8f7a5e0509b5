"""Ranks to which the lanes of a plan are dealt, beside one rank alone: the first session."""

from __future__ import annotations

import itertools
from collections import Counter

from midepoch_conformance.case.case import OF_DEALT_RANKS
from midepoch_conformance.case.stages import in_one_order, lane_batches
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
    """Ranks deliver as many batches of an epoch as the one that has the fewest."""
    for index, plan in enumerate(view.case.sessions):
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        failed = fault_of_rank(view, index)
        if failed is not None:
            return failed
        world, lanes = plan.execution.world, plan.execution.lanes or 1
        counts = lane_batches(view.case.workload, lanes)
        fewest = min(sum(counts[rank::world]) for rank in range(world))
        left = [count - done for count, done in zip(counts, _done(view, index), strict=True)]
        rest = min(sum(left[rank::world]) for rank in range(world))
        for epoch, batches in enumerate(expected.epochs_of(session)):
            for step, batch in enumerate(batches):
                missing = {*range(world)} - {int(row[0]) % lanes % world for row in batch}
                if not missing:
                    continue
                words = f"in step {step} of epoch {epoch} ranks {sorted(missing)} of {world} have"
                words += f" no batch, and the others deliver {compare.show([batch])}"
                evidence = Evidence("batches", index, epoch=epoch)
                return view.silent("different", words, batches[:step], batches, evidence)
            due = fewest if epoch else rest
            if len(batches) != due:
                words = f"in epoch {epoch} the ranks deliver {len(batches)} batches each,"
                words += f" and the rank with the fewest has {due}"
                return view.fails("different", words, due, len(batches))
    return view.passed()


def _done(view: View, index: int) -> list[int]:
    """Return how many batches of each lane the session before has delivered when it saves."""
    w, lanes = view.case.workload, view.case.sessions[0].execution.lanes or 1
    rows = [0] * lanes
    for event in view.events(index - 1) if index else ():
        if event.do == "save":
            break
        for row in itertools.chain.from_iterable(event.batches):
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
    for rank, index in enumerate(after):
        got = _of(view, index, epoch)
        due = [batches[at] for at in range(len(saved), sure) if at % world == rank]
        if got[: len(due)] != due:
            ids = [_ids(batch) for batch in got[: len(due)]] == [_ids(batch) for batch in due]
            words = f"in epoch {epoch} rank {rank} of {world} delivers {compare.show(got)}"
            words += f", and {compare.show(due)} come first"
            evidence = Evidence("batches", index, epoch=epoch)
            kind = "values" if ids else "different"
            return view.silent(kind, words, [*due, *got[len(due) :]], got, evidence)
    every = [*saved, *(batch for index in after for batch in _of(view, index, epoch))]
    if Counter(map(str, every)) == Counter(map(str, batches)):
        return None
    wrong = compare.unwhole(every, w.n)
    if wrong is None:
        words = f"in epoch {epoch} the ranks deliver other batches of the samples than one rank"
        return view.silent("different", words, batches, every)
    pieces = [Piece(index, 0, epoch) for index in (*(before if not epoch else ()), *after)]
    evidence = Evidence("samples", after[-1], pieces=tuple(pieces), wanted=(w.n,))
    words = f"in epoch {epoch} the ranks together deliver {compare.show(every)}: {wrong.words}"
    return view.silent(wrong.kind, words, batches, every, evidence)


def _of(view: View, index: int, epoch: int) -> list[Batch]:
    session = view.session(index)
    epochs = [] if session is None else expected.epochs_of(session)
    return epochs[epoch] if epoch < len(epochs) else []


def _ids(batch: Batch) -> list[float]:
    return [row[0] for row in batch]
