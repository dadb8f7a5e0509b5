"""Cost: states and resumes do not grow with the position, the epoch or the number of resumes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from midepoch_conformance.case.trace import Batch, Event
from midepoch_conformance.judges.outages import caught
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.expected import START
from midepoch_conformance.verdict.finding import Finding

__all__ = ["MANY", "ROUNDS", "grows"]

SLACK = 64
"""Bytes by which two states may differ: their numbers have about as many digits."""

CALLS = 4
"""Calls of ``state_dict`` for each copy of the dataset and epoch beside those for the interval's
snapshots."""

ROUNDS = 5
"""So many numbers in a row that grow each time are a slope."""

MANY = 10
"""So many numbers are also a slope if most of their pairs grow: see :func:`grows`."""

AHEAD = 8
"""How many batches, for each that may be under way, read-ahead varies from run to run."""


@judge("COST-1", "size", "size out of order")
def size(view: View) -> Finding | None:
    """No state is larger than those before it."""
    last = len(view.case.sessions) - 1
    wrong = _wrong(view, last)
    if wrong is not None:
        return wrong
    saves = [e for index in range(last + 1) for e in view.events(index, "save")]
    sizes = [e.size for e in saves if e.size is not None]
    if len(sizes) < 2:
        return None
    words = f"the states have {_listed(sizes)} bytes"
    # A few states are no slope yet.
    if grows(sizes) or (len(sizes) < ROUNDS and sizes[-1] - sizes[0] > SLACK):
        evidence = Evidence("size", last, wanted=(SLACK, ROUNDS, MANY))
        return view.fails("cost", words, sizes[0], sizes[-1], evidence)
    return view.passed(words)


@judge("COST-2", "calls", "calls of lanes")
def calls(view: View) -> Finding | None:
    """``state_dict`` is called as often as the interval requires, in late epochs too."""
    last = len(view.case.sessions) - 1
    wrong = _wrong(view, last)
    if wrong is not None:
        return wrong
    counts: list[int] = []
    for index in range(last + 1):
        events = [e for e in view.events(index) if e.calls is not None]
        got = [e.calls.get("state_dict", 0) for e in events if e.calls is not None]
        batches = [0]  # of each epoch
        for event in events:
            batches[-1] += len(event.batches)
            if event.ended:
                batches.append(0)
        # Batches that are made ahead belong to the epoch, too.
        made = sum(e.fetched or 0 for e in events) // max(1, view.case.workload.batch_size)
        batches[-1] += max(0, made - sum(batches))
        x = view.case.sessions[index].execution
        copies = max(1, x.workers, x.lanes or 0)
        most = sum(
            _snapshots(count, x.interval, copies) + CALLS * copies for count in batches if count
        )
        words = f"{sum(got)} calls of state_dict in {sum(batches)} batches at interval {x.interval}"
        if got and sum(got) > most:
            evidence = Evidence("calls", index, wanted=("state_dict", most))
            return view.fails(
                "cost", f"{words}; at most {most} are needed", most, sum(got), evidence
            )
        in_one_epoch = _too_often_in_an_epoch(view, index, events, copies)
        if in_one_epoch is not None:
            return in_one_epoch
        delivering = [n for n, e in zip(got, events, strict=True) if e.do in ("take", "drain")]
        if index or not last:  # the first of several sessions resumes nothing
            counts += [sum(got)] if last else delivering
    if not counts:
        return None
    if grows(counts):
        rounds = "session" if last else "epoch"
        words = f"the calls of state_dict grow with each {rounds}: {_listed(counts)}"
        evidence = Evidence("slope", last, wanted=("state_dict", ROUNDS, MANY))
        return view.fails("cost", words, counts[0], counts[-1], evidence)
    return view.passed(f"{_listed(counts)} calls of state_dict")


def _too_often_in_an_epoch(
    view: View, index: int, events: list[Event], copies: int
) -> Finding | None:
    """Return the finding on a step that is one whole epoch, and alone calls too often.

    Such a step may make the first batches of the next epoch, too: both have their own calls.
    """
    interval = view.case.sessions[index].execution.interval
    for event in events:
        if not (event.opened and event.ended):
            continue
        made = (event.fetched or 0) // max(1, view.case.workload.batch_size)
        count, got = max(made, len(event.batches)), (event.calls or {}).get("state_dict", 0)
        most = _snapshots(count, interval, copies) + 2 * CALLS * copies
        if got > most:
            step = event.step
            evidence = Evidence("calls", index, step, step, wanted=("state_dict", most))
            words = f"{got} calls of state_dict in an epoch of {len(event.batches)} batches at"
            words += f" interval {interval}; at most {most} are needed"
            return view.fails("cost", words, most, got, evidence)
    return None


@judge("COST-3", "fetched again", "fetched again untold")
def fetched_again(view: View) -> Finding | None:
    """A late resume fetches as few samples as an early one."""
    last = len(view.case.sessions) - 1
    counts: list[int] = []
    for index in range(1, last + 1):
        finding = view.rest(index)
        if finding.outcome != "pass":
            return view.blocked(f"the resume is wrong itself: {finding.words}")
        found = [e.fetched for e in view.events(index) if e.fetched is not None]
        counts += [sum(found)] if found else []
    if len(counts) < 2:
        return None
    words = f"the resumes fetch {_listed(counts)} samples, the first the earliest"
    x, size = view.case.sessions[last].execution, view.case.workload.batch_size
    # Ahead of the position, and back to the last snapshot of each lane.
    ahead = AHEAD * max(2, x.prefetch or 0) + x.interval - 1
    most = max(1, x.workers) * ahead * size
    # A loader that takes snapshots by a rule of its own is at any distance from the last one.
    # That distance grows by the samples between two positions at most.
    further = most + _samples_between(view, 1, last)
    if counts[-1] - max(counts[:-1]) > most or counts[-1] - counts[0] > further:
        evidence = Evidence("calls", last, wanted=("fetch", most, further), other=1)
        return view.fails("cost", words, max(counts[:-1]), counts[-1], evidence)
    if grows(counts):
        evidence = Evidence("slope", last, wanted=("fetch", ROUNDS, MANY))
        return view.fails("cost", words, counts[0], counts[-1], evidence)
    return view.passed(words)


def _samples_between(view: View, first: int, last: int) -> int:
    """Return how many samples the state that session ``last`` loads is after that of ``first``."""
    w, places = view.case.workload, []
    for index in (first, last):
        loaded = next(s.state for s in view.case.sessions[index].steps if s.do == "load")
        position = view.places[loaded]
        places.append(position.epoch * w.n + position.batches * max(1, w.batch_size))
    return max(0, places[1] - places[0])


@judge("COST-4", "iterated again")
def iterated_again(view: View) -> Finding | None:
    """A resume iterates the dataset once for each worker and epoch."""
    last = len(view.case.sessions) - 1
    finding = view.all(last)
    if finding.outcome != "pass":
        return view.blocked(f"the resume is wrong itself: {finding.words}")
    counted = [e.calls for e in view.events(last) if e.calls is not None]
    if not counted:
        return None
    x = view.case.sessions[last].execution
    copies = max(1, x.workers, x.lanes or 0)
    epochs, earlier = len(view.of(last)), _earlier(view, last, copies)
    most = copies * epochs + earlier
    got = sum(c.get("iter", 0) for c in counted)
    words = f"{got} calls of iter(dataset) in {epochs} epochs with {copies} worker(s)"
    # A loader may begin the next epoch ahead, once it has read the one before to its end.
    if got > most and sum(c.get("again", 0) for c in counted) > earlier:
        evidence = Evidence("calls", last, wanted=("iter", most))
        return view.fails("cost", f"{words}; at most {most}", most, got, evidence)
    return view.passed(words)


def _earlier(view: View, last: int, copies: int) -> int:
    """Return how many copies of a dataset may have loaded a state of an earlier pass.

    These are the ones that had delivered too few batches of the epoch to be asked for another one.
    """
    loaded = next((s.start for s in view.of(last) if s.loaded), None)
    if loaded is None or not loaded.epoch or view.case.workload.kind != "stateful_iterable":
        return 0
    own = max(1, _own_interval(view.case.sessions[last - 1].execution.interval, copies))
    return sum(len(range(copy, loaded.batches, copies)) < own for copy in range(copies))


@judge("COST-5", "fetched once")
def fetched_once(view: View) -> Finding | None:
    """No epoch fetches a sample twice."""
    last = len(view.case.sessions) - 1
    wrong = _wrong(view, last)
    if wrong is not None:
        return wrong
    counted = [e.fetched for e in view.events(last) if e.fetched is not None]
    if not counted:
        return None
    n, got = view.case.workload.n, sum(counted)
    delivered = _samples(batch for event in view.events(last) for batch in event.batches)
    words = f"{got} samples fetched where {delivered} are delivered, in epochs of {n}"
    # A loader may prefetch an epoch, and may look at all samples once before the first epoch; a
    # resume may fetch again what its epoch had delivered. One more sample in each epoch exceeds
    # that.
    start = next((s.start for s in view.of(last) if s.loaded), START)
    loaded = itertools.chain.from_iterable(view.epochs[start.epoch : start.epoch + 1])
    most = delivered + _samples(itertools.islice(loaded, start.batches)) + 2 * n
    if got > most:
        evidence = Evidence("calls", last, wanted=("fetch", most))
        return view.fails("cost", f"{words}; at most {most}", most, got, evidence)
    return view.passed(words)


def _samples(batches: Iterable[Batch]) -> int:
    return sum(map(len, batches))


def _snapshots(batches: int, interval: int, copies: int) -> int:
    """Return how often an epoch's copies of the dataset are asked at most, all of them together.

    Copies that take turns count their own batches, and round the interval down to those. Others are
    all asked at the same batches of the epoch.

    Example:
        >>> _snapshots(1000, 20, 1), _snapshots(1000, 20, 8), _snapshots(1000, 3, 8)
        (50, 500, 2666)
    """
    own = _own_interval(interval, copies)
    return batches // own if own else copies * batches // interval


def _own_interval(interval: int, copies: int) -> int:
    """Return the interval in batches of one of some copies that take turns; 0: less than one."""
    return interval // copies


def _wrong(view: View, last: int) -> Finding | None:
    """Return why the sessions up to ``last`` cannot be judged: one of them goes wrong."""
    for index in range(last + 1):
        if view.session(index) is None:
            return view.blocked("the play did not get there")
        if not view.case.sessions[index].execution.in_order:
            continue  # UNORD-1 looks at such batches
        problem = view.problem(index, tolerated=caught(view, index))
        if problem is not None:
            return view.blocked(f"the run fails: {problem.words}")
    return None


def grows(numbers: Sequence[int]) -> bool:
    """Return whether numbers grow, often enough that it is no chance.

    Few numbers have to grow each time. Of many numbers, those pairs count whose later number is
    the larger one, less those whose earlier number is: four fifths of all pairs are a slope. So
    growth in every third round is one, and two jumps or numbers that vary by chance are none.

    Example:
        >>> grows([7, 8, 9, 10, 11]), grows([7, 8, 8, 9, 10])
        (True, False)
        >>> grows([7, 7, 8, 8, 9, 9, 9, 10, 10, 11]), grows([7, 7, 7, 8, 8, 8, 8, 9, 9, 9])
        (True, False)
    """
    if len(numbers) < MANY:
        return len(numbers) >= ROUNDS and all(a < b for a, b in itertools.pairwise(numbers))
    pairs = list(itertools.combinations(numbers, 2))
    return 5 * sum((a < b) - (a > b) for a, b in pairs) >= 4 * len(pairs)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
