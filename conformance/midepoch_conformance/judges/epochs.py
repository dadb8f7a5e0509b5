"""Epochs: their ends, later epochs, and epochs that are left early."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

from midepoch_conformance.judges.basis import allowed_missing
from midepoch_conformance.judges.outages import INTERRUPTED, left_after, stopped_at
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.resume import inside
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import difference, ids, unwhole
from midepoch_conformance.verdict.evidence import Evidence, Piece
from midepoch_conformance.verdict.expected import Epochs, Stretch
from midepoch_conformance.verdict.finding import FAILURES, Finding, in_words, is_refusal

__all__: list[str] = []


@judge(
    "EPOCH-1", "cut", "later", "work cut", "work later", "divided later", "set stream", "keys",
    "shuffled stream cut", "shuffled stream later",
)  # fmt: skip
def later_epochs(view: View) -> Finding | None:
    """The epochs after the one resumed into are the uninterrupted run's."""
    return view.later(1) if inside(view, 1) else None


@judge(
    "EPOCH-2", "end seen", "work end seen", "wrapped sampler ended", "keys ended",
    "shuffled stream ended",
)  # fmt: skip
def after_the_end(view: View) -> Finding | None:
    """A state from after an epoch's end resumes with the next."""
    return _next_epochs(view)


@judge("EPOCH-3", "end unseen", "work end unseen")
def before_the_end(view: View) -> Finding | None:
    """A state from after the last batch neither repeats the epoch nor drops the next."""
    return _next_epochs(view)


@judge(
    "EPOCH-4", "later", "work later", "wrapped sampler", "divided later", "set stream", "keys",
    "shuffled stream later",
)  # fmt: skip
def in_a_later_epoch(view: View) -> Finding | None:
    """A state from a later epoch resumes in that epoch's order."""
    return view.rest(1) if inside(view, 1) else None


@judge("EPOCH-5", "break", "work break", *INTERRUPTED)
def after_a_break(view: View) -> Finding | None:
    """Each epoch after one that was left early is whole, also after one that was interrupted."""
    interrupted = view.case.probe in INTERRUPTED
    if interrupted and (left_after(view) is None or view.events(0, "save")):
        return None  # FAULT-12 judges what goes on, and RESUME-7 what follows a state
    if interrupted and any(event.spent for event in view.events(0)):
        return view.not_offered("an interrupt ends the iterator that the adapter makes")
    session = view.session(0)
    if session is not None and session.fault is not None:
        return view.blocked("the loader cannot be built")
    events = view.events(0)
    broken = next((e.step for e in events if e.do == "break"), None)
    faults = (e for e in events if e.fault is not None)
    fault = next((e for e in faults if not interrupted or e.step not in stopped_at(view)), None)
    if fault is not None and fault.fault is not None:
        if broken is None or fault.step < broken:
            return view.blocked("it fails before the epoch is left")
        if interrupted and is_refusal(fault.fault, 0):
            return Finding(view.requirement, "refused", "", f"then: {in_words(fault.fault)}")
        words = f"after leaving the epoch early: {fault.fault.type}: {fault.fault.message}"
        return view.fails("error", words, evidence=Evidence("error", wanted="no error"))
    w, x = view.case.workload, view.case.sessions[0].execution
    for number, stretch in enumerate(view.of(0)):
        missing = allowed_missing(w, x) if stretch.ended else w.n
        wrong = unwhole(stretch.got, w.n, missing)
        if wrong is not None:
            what = "left early" if not stretch.ended else "drained after a break"
            words = f"epoch {number}, {what}: {wrong.words}"
            pieces = (Piece(0, 0, number),)
            evidence = Evidence("samples", pieces=pieces, wanted=(w.n,), slack=missing)
            whole = f"samples 0 to {w.n - 1}, each once"
            return view.silent(wrong.kind, words, whole, stretch.got, evidence)
    return view.passed()


@judge("EPOCH-6", "rollover")
def rolls_over(view: View) -> Finding | None:
    """Samples that an epoch leaves over open the next one, after a resume too."""
    if view.case.workload.tail != "rollover":
        return None
    return _not_opened(view) or view.all(len(view.case.sessions) - 1)


@judge("EPOCH-7", "rollover")
def comes_as_often_as_drawn(view: View) -> Finding | None:
    """Over the epochs, each sample comes as often as epochs were drawn, less the carried ones."""
    if view.case.workload.tail != "rollover":
        return None
    wrong = _otherwise_often(view, view.epochs[: view.case.workload.epochs])
    if wrong:
        return view.silent(*wrong)
    last = len(view.case.sessions) - 1
    problem = view.problem(last)
    early = view.before(last)
    if early is not None or problem is None:
        return early or view.passed()
    if problem.fault is not None:
        return view.blocked(f"the run fails: {problem.words}")
    wrong = _otherwise_often(view, _continued(view, last))
    return view.silent(*wrong, evidence=problem.evidence) if wrong else view.passed()


@judge("EPOCH-8", "named epoch")
def the_named_epoch(view: View) -> Finding | None:
    """An epoch that the caller names comes next, whole; a load forgets the name."""
    for index, plan in enumerate(view.case.sessions):
        if view.session(index) is None:
            return view.blocked("the play did not get there")
        bogus = view.events(index, "load_bogus")
        if any(event.fault is None for event in bogus):
            return view.blocked("the load does not refuse a value that is no state")
        problem = view.problem(index, tolerated=tuple(event.step for event in bogus))
        if problem is None:
            continue
        named = [n for n, step in enumerate(plan.steps) if step.do == "name_epoch"]
        if not index and problem.step < min(named, default=problem.step + 1):
            return view.blocked(f"wrong already before an epoch is named: {problem.words}")
        return view.of_problem(problem)
    return view.passed()


def _continued(view: View, index: int) -> Epochs:
    """Return the ended epochs of a session, after those that its state had seen delivered."""
    epochs: Epochs = []
    for stretch in (s for s in view.of(index) if not s.leading and s.ended):
        if not epochs:
            before = view.epochs[: stretch.start.epoch + 1]
            epochs = [*before[:-1], before[-1][: stretch.start.batches]] if before else [[]]
            epochs[-1] = [*epochs[-1], *stretch.got]
        else:
            epochs.append(stretch.got)
    return epochs


def _otherwise_often(view: View, epochs: Epochs) -> tuple[str, str, Any, Any] | None:
    """Return how samples come more often, or less often, than epochs were drawn."""
    w = view.case.workload
    every = {float(i) for i in range(w.n)}
    counts: Counter[float] = Counter()
    for drawn, epoch in enumerate(epochs, 1):
        counts.update(ids(epoch))
        often = next((i for i, count in counts.items() if count > drawn or i not in every), None)
        if often is not None:
            words = f"up to the end of epoch {drawn - 1}, {counts[often]} times sample {often:g}"
            return "repeated", words, drawn, counts[often]
        left = drawn * w.n - sum(counts.values())
        if left >= w.batch_size:
            words = f"up to the end of epoch {drawn - 1}, {left} samples are missing, "
            words += f"and a batch has {w.batch_size}"
            return "missing", words, w.batch_size - 1, left
    return None


def _not_opened(view: View) -> Finding | None:
    """Return how an epoch of the uninterrupted run is not opened by what was left over."""
    w = view.case.workload
    every = [float(i) for i in range(w.n)]
    carried: list[float] = []
    for number, epoch in enumerate(view.epochs[: w.epochs]):
        if not epoch and len(carried) + w.n < w.batch_size:
            carried = sorted(carried + every)  # less than one batch: all samples are carried
            continue
        odd = next((len(batch) for batch in epoch if len(batch) != w.batch_size), None)
        if odd is not None:
            words = f"epoch {number} has a batch of {odd} samples: left-over samples are carried"
            return view.silent("extra", words, w.batch_size, odd)
        begun = ids(epoch)[: len(carried)]
        if sorted(begun) != carried:
            words = f"epoch {number} begins with {_samples(begun)}; left over were "
            words += _samples(carried)
            return view.silent("missing", words, carried, begun)
        # EPOCH-7 judges samples that come too often or never.
        carried = sorted((Counter([*carried, *every]) - Counter(ids(epoch))).elements())
    return None


def _samples(numbers: Iterable[float]) -> str:
    return ", ".join(f"{i:g}" for i in sorted(numbers)) or "none"


def _next_epochs(view: View) -> Finding:
    """Judge the epoch after an end state; EPOCH-1 judges a wrong order alone."""
    finding = view.all(1)
    problem = view.problem(1)
    if finding.outcome not in FAILURES or problem is None or problem.difference is None:
        return finding
    stretch = next((s for s in view.resumed(1) if difference(s, view.epochs)), None)
    if problem.epoch or (stretch is not None and _in_another_order(view, stretch)):
        return dataclasses.replace(finding, needs=("EPOCH-1",))
    return finding


def _in_another_order(view: View, stretch: Stretch) -> bool:
    """Return whether a wrong epoch is whole, and none of the known epochs."""
    w, x = view.case.workload, view.case.sessions[1].execution
    whole = unwhole(stretch.got, w.n, allowed_missing(w, x)) is None
    return whole and len(stretch.got) == len(stretch.want or []) and stretch.got not in view.epochs
