"""Ranks that share each batch of one plan, beside one rank alone: the first session."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.case import OF_CUT_RANKS, OF_RANKS
from midepoch_conformance.case.trace import Batch
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.execution.staged import is_filled, through_stages
from midepoch_conformance.judges.execution.world import fault_of_rank, one_rank
from midepoch_conformance.judges.format.order import values
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import compare, expected
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.expected import Epochs
from midepoch_conformance.verdict.finding import FAILURES, Finding
from midepoch_conformance.verdict.format.permutation import derive_words

__all__: list[str] = []


@dataclasses.dataclass(frozen=True)
class Ranks:
    """The ranks' epochs, and those of one rank alone from the ranks' position on."""

    sessions: list[int]
    """The sessions of the ranks, by their numbers."""
    epochs: list[Epochs]
    """What each rank delivered."""
    alone: Epochs
    """What one rank delivers from there."""
    whole: Epochs
    """All that one rank delivers."""

    def together(self, epoch: int, step: int) -> Batch:
        """Return what all ranks delivered at a step, in their order."""
        return [row for epochs in self.epochs for row in _at(epochs, epoch, step)]

    def steps(self, epoch: int) -> int:
        """Return the steps of an epoch, of one rank or of the rank that has most."""
        return max(
            len(epochs[epoch]) for epochs in [self.alone, *self.epochs] if epoch < len(epochs)
        )

    def filled(self, epoch: int, step: int) -> Batch:
        """Return what may follow a step's batch: after the last one, the epoch's beginning."""
        if step + 1 != len(self.alone[epoch]):
            return []
        return [row for batch in self.whole[epoch] for row in batch]


@judge("WORLD-3", "shared ranks", "process group", alone=True)
def one_batch_together(view: View) -> Finding | None:
    """At each step the ranks deliver one rank's batch."""
    ranks = _group(view, 0) if view.case.probe == "process group" else _ranks(view)
    return ranks if isinstance(ranks, Finding) else _same_steps(view, ranks, ids=True)


@judge("WORLD-4", "shared ranks", alone=True)
def equal_states(view: View) -> Finding | None:
    """The states of all ranks are equal."""
    ranks = _ranks(view)
    if isinstance(ranks, Finding):
        return ranks
    saves = [event for session in ranks.sessions for event in view.events(session, "save")]
    digests = {event.digest for event in saves}
    if len(digests) == 1 and None not in digests:
        return view.passed()
    documents = [event.document for event in saves if isinstance(event.document, dict)]
    if len(documents) < len(ranks.sessions):
        return None  # equal states of other formats may have different bytes
    for rank, document in enumerate(documents):
        if document != documents[0]:
            keys = [key for key in document if document[key] != documents[0].get(key)]
            words = f"the states of ranks 0 and {rank} differ in {', '.join(keys)}"
            return view.fails("different", words, documents[0], document)
    return view.passed()


@judge("WORLD-5", "shared ranks resized", OF_RANKS, "process group", alone=True)
def any_number_resumes(view: View) -> Finding | None:
    """Another number of ranks goes on with one rank's batches."""
    if view.case.probe == OF_RANKS:
        return through_stages(view)
    of_group = view.case.probe == "process group"
    ranks = _group(view, len(view.case.sessions) - 1) if of_group else _ranks(view)
    return ranks if isinstance(ranks, Finding) else _same_steps(view, ranks, ids=False)


@judge("WORLD-6", "draws of ranks", alone=True)
def equal_draws(view: View) -> Finding | None:
    """A sample draws the same under any number of ranks."""
    ranks = _ranks(view)
    found = ranks if isinstance(ranks, Finding) else _same_steps(view, ranks, ids=False)
    loads = any(step.do == "load" for plan in view.case.sessions for step in plan.steps)
    if loads and found.outcome in FAILURES and found.kind != "values":
        return view.blocked(f"the ranks do not resume (WORLD-5): {found.words}")
    return found


@judge("WORLD-7", "ranks cut anew", "another global batch size", OF_CUT_RANKS, alone=True)
def same_sequence(view: View) -> Finding | None:
    """Batches of another size are refused, or go on with the same sequence of samples."""
    if view.case.probe == OF_CUT_RANKS:
        return through_stages(view)
    ranks = _ranks(view)
    if isinstance(ranks, Finding):
        return view.passed("refused") if ranks.outcome == "pass" else ranks
    rest = [row[0] for batch in ranks.alone[0] for row in batch]
    steps = range(ranks.steps(0))
    got = [row[0] for step in steps for row in ranks.together(0, step)]
    filled = [row[0] for batch in ranks.whole[0] for row in batch]
    both = min(len(got), len(rest))
    if view.case.workload.tail == "keep":
        whole = len(got) >= len(rest) and is_filled(got[len(rest) :], filled)
    else:  # each size leaves less than one of its batches over
        whole = len(rest) - len(got) < _size_after(view)
    if got[:both] == rest[:both] and whole:
        return view.passed("the same sequence")
    words = f"the ranks go on with samples {got[:12]}, and the sequence with {rest[:12]}"
    kind = "repeated" if len(set(got)) < len(got) else "different"
    return _silent(view, ranks, kind, words, 0, _cut(view, ranks))


@judge("WORLD-8", "shared ranks", alone=True)
def equally_many(view: View) -> Finding | None:
    """All ranks deliver equally many batches in each epoch."""
    ranks = _ranks(view)
    if isinstance(ranks, Finding):
        return ranks
    for epoch in range(len(ranks.alone)):
        counts = [len(epochs[epoch]) if epoch < len(epochs) else 0 for epochs in ranks.epochs]
        if len(set(counts)) > 1:
            words = f"in epoch {epoch} the ranks deliver {counts} batches"
            return _silent(view, ranks, "missing", words, epoch, _dealt(ranks, epoch))
    return view.passed()


@judge("SEED-8", "seeds of ranks", alone=True)
def seeded_by_place(view: View) -> Finding | None:
    """The streams of a sample are seeded from its place in the epoch."""
    w, ranks = view.case.workload, _ranks(view)
    if isinstance(ranks, Finding):
        return ranks
    for epoch, batches in enumerate(ranks.alone):
        wanted: list[list[Batch]] = [[] for _ in ranks.epochs]
        place = 0
        for step, batch in enumerate(batches):
            at = place
            for rank, epochs in enumerate(ranks.epochs):
                share = _at(epochs, epoch, step)
                wanted[rank].append(
                    [[row[0], *_drawn(w, epoch, at + i)] for i, row in enumerate(share)]
                )
                at += len(share)
            place += len(batch)
        got = [epochs[epoch] if epoch < len(epochs) else [] for epochs in ranks.epochs]
        if wanted != got:
            words = f"in epoch {epoch} samples draw what the seeds of their places do not give"
            return _silent(view, ranks, "values", words, epoch, wanted)
    return view.passed()


def _drawn(w: Workload, epoch: int, place: int) -> list[float]:
    """Return what the sample of a place draws."""
    seeds = derive_words(w.seed, "sample", epoch, place)
    return [number for (number,) in values(seeds, 1, w.draws)]


def _ranks(view: View) -> Ranks | Finding:
    """Return what the ranks delivered, or the finding on what kept one of them from it."""
    case = view.case
    loads = [any(s.do == "load" for s in plan.steps) for plan in case.sessions]
    chosen = [i for i in range(1, len(loads)) if loads[i] or not any(loads)]
    executions = [case.sessions[i].execution for i in chosen]
    world = len(executions)
    if sorted((x.rank, x.world) for x in executions) != [(rank, world) for rank in range(world)]:
        return view.blocked("a rank is missing")
    alone = one_rank(view)
    if isinstance(alone, Finding):
        return alone
    saver = view.session(1)
    if saver is not None and 1 not in chosen and (fault := saver.first_fault()) is not None:
        return view.blocked(f"no state is saved: {fault.type}")
    epochs: list[Epochs] = []
    for index in chosen:
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        failed = fault_of_rank(view, index)
        if failed is not None:
            return failed
        epochs.append(expected.epochs_of(session))
    whole = expected.epochs_of(alone)
    start = 0 if 1 in chosen else sum(len(event.batches) for event in view.events(1))
    return Ranks(chosen, epochs, [whole[0][start:], *whole[1:]], whole)


def _group(view: View, chosen: int) -> Ranks | Finding:
    """Return what the ranks of a process group delivered together in a session.

    In the first session they save a state after a step. In the second one, a rank alone goes on
    from it. In one between that and the last one, a rank may die: it needs to end with an error.
    """
    if [plan.execution.world for plan in view.case.sessions[1:2]] != [1]:
        return view.blocked("a rank alone is missing")
    alone, session = view.session(1), view.session(chosen)
    if alone is None or session is None:
        return view.blocked("the play did not get there")
    for index in {0, 1, *range(chosen + 1)}:
        failed = fault_of_rank(view, index)
        if failed is None or (1 < index < chosen and failed.kind != "hang"):
            continue
        return failed if index == chosen or index > 1 else view.blocked(failed.words)
    begun = [batch for event in view.events(0, "take") for batch in event.batches]
    rest = expected.epochs_of(alone)
    wrong = _wrong_rest(view, begun, rest[0] if rest else [])
    if wrong is not None:  # WORLD-5 judges what follows a load
        return wrong if chosen else view.blocked(wrong.words)
    whole = [[*begun, *rest[0]], *rest[1:]]
    return Ranks([chosen], [expected.epochs_of(session)], rest if chosen else whole, whole)


def _wrong_rest(view: View, begun: list[Batch], rest: list[Batch]) -> Finding | None:
    """Return how one rank alone goes on wrongly from the state of a group, which ends rightly.

    Without an epoch of the group that is whole, it is open whose samples are wrong.
    """
    w, session = view.case.workload, view.session(0)
    missing = 0 if w.tail == "keep" else w.n % w.batch_size
    wrong = compare.unwhole([*begun, *rest], w.n, missing)
    own = expected.epochs_of(session) if session else []
    if wrong is None or not own or compare.unwhole(own[0], w.n, missing) is not None:
        return None
    words = f"one rank alone goes on with {compare.show(rest)} after {compare.show(begun)}:"
    due = own[0][len(begun) :]
    evidence = Evidence("batches", 1, run=(0, len(begun), None), other=0)
    return view.silent(wrong.kind, f"{words} {wrong.words}", due, rest, evidence)


def _same_steps(view: View, ranks: Ranks, *, ids: bool) -> Finding:
    """Compare each step of the ranks with one rank's batch; ``ids``: without what samples drew."""
    for epoch, batches in enumerate(ranks.alone):
        for step in range(ranks.steps(epoch)):
            batch = batches[step] if step < len(batches) else []
            got = ranks.together(epoch, step)
            own, more = got[: len(batch)], got[len(batch) :]
            same = _ids(own) == _ids(batch) if ids else own == batch
            if same and is_filled(_ids(more), _ids(ranks.filled(epoch, step))):
                continue
            words = (
                f"in step {step} of epoch {epoch} the ranks deliver {compare.show([got])} together"
            )
            words += f", and one rank {compare.show([batch])}"
            kind = "values" if _ids(own) == _ids(batch) and len(own) == len(got) else "different"
            return _silent(view, ranks, kind, words, epoch, _dealt(ranks, epoch))
    return view.passed()


def _silent(
    view: View, ranks: Ranks, kind: str, words: str, epoch: int, dealt: list[list[Batch]]
) -> Finding:
    """Return a failure, shown by the first rank that does not deliver its equal share."""
    for number, (session, share) in enumerate(zip(ranks.sessions, dealt, strict=True)):
        got = ranks.epochs[number][epoch] if epoch < len(ranks.epochs[number]) else []
        if got != share:
            evidence = Evidence("batches", session, epoch=epoch)
            return view.silent(kind, words, share, got, evidence)
    return view.silent(kind, words)


def _dealt(ranks: Ranks, epoch: int) -> list[list[Batch]]:
    """Return each rank's batches of an epoch if one rank's are dealt in equal parts."""
    world, found = len(ranks.sessions), []
    for step, batch in enumerate(ranks.alone[epoch]):
        beginning = ranks.filled(epoch, step)
        size = -(-len(batch) // world)
        rows = [*batch, *(beginning[i % len(beginning)] for i in range(size * world - len(batch)))]
        found.append([rows[rank * size : (rank + 1) * size] for rank in range(world)])
    return [[shares[rank] for shares in found] for rank in range(world)]


def _size_after(view: View) -> int:
    return view.case.session_workload(len(view.case.sessions) - 1).batch_size


def _cut(view: View, ranks: Ranks) -> list[list[Batch]]:
    """Return each rank's batches of the first epoch in batches of the last session's size."""
    size = _size_after(view)
    rest = [row for batch in ranks.alone[0] for row in batch]
    batches = [rest[i : i + size] for i in range(0, len(rest), size)]
    return _dealt(dataclasses.replace(ranks, alone=[batches]), 0)


def _ids(batch: Batch) -> list[float]:
    return [row[0] for row in batch]


def _at(epochs: Epochs, epoch: int, step: int) -> Batch:
    return epochs[epoch][step] if epoch < len(epochs) and step < len(epochs[epoch]) else []
