"""Values: random draws of samples come back after a resume, and none is drawn twice."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Sequence

from midepoch_conformance.case.trace import Batch
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import expected
from midepoch_conformance.verdict.evidence import UNINTERRUPTED, Evidence
from midepoch_conformance.verdict.finding import FAILURES, Finding, in_words

__all__: list[str] = []

_CHANCE = 2
"""So many equal draws are chance in any run: a draw may have 24 bits."""

_MANY = 2**22
"""The square of the number of draws for which one more equal pair is chance."""


@judge("VOWN-1", "own values", "thread values")
def own_values(view: View) -> Finding | None:
    """Values from the loader's own source are equal after a resume."""
    return _equal(view)


@judge("VAMB-1", "ambient values", "ambient start", "elastic values", "work values")
def ambient_values(view: View) -> Finding | None:
    """Values from the global streams are equal after a resume."""
    finding = _equal(view)
    unresumed = finding.outcome in (*FAILURES, "refused") and finding.kind != "values"
    if view.case.probe == "elastic values" and unresumed:
        # ELASTIC-1 judges that.
        return view.blocked(f"it does not resume under another worker count: {finding.words}")
    return finding


@judge("VOWN-2", "own streams", "own values")
def own_streams(view: View) -> Finding | None:
    """No two samples draw from the same stream at the same place, not even in two epochs."""
    return _distinct(view, epochs=False)


@judge("VAMB-2", "ambient streams", "ambient values")
def ambient_streams(view: View) -> Finding | None:
    """No two samples, of any workers and epochs, draw the same values."""
    return _distinct(view, epochs=True)


def _equal(view: View) -> Finding:
    before = view.problem(0)
    if before is not None and before.difference is not None and before.difference.kind == "values":
        d = before.difference
        words = f"two runs with equal surroundings draw other values: {d.words}"
        return view.silent("values", words, d.expected, d.got, before.evidence)
    finding = view.all(1)
    if finding.outcome in FAILURES and finding.kind in _OF_SAMPLES:
        return view.blocked(f"the samples are wrong themselves: {finding.words}")
    # The samples were right, so the other prerequisites of a resume hold.
    return dataclasses.replace(finding, needs=()) if finding.kind == "values" else finding


_OF_SAMPLES = frozenset({"missing", "repeated", "reordered", "extra", "different"})


def _distinct(view: View, epochs: bool) -> Finding | None:
    """Judge an uninterrupted run: the case's own, or the one that a resume is compared with.

    With ``epochs``, an epoch draws no value of an earlier one either.
    """
    run, place = view.epochs, UNINTERRUPTED
    if view.case.probe.endswith("streams"):
        session = view.session(0)
        fault = session.first_fault() if session else None
        if fault is not None:
            return view.blocked(f"the run fails: {in_words(fault)}")
        run = expected.epochs_of(session) if session else []
        place = 0
    # The numbers after the draws in a row are the dataset's history.
    streams = sum(not draw.startswith("private") for draw in view.case.workload.draws)
    drawn = [_drawn(epoch, streams) for epoch in run]
    chance = _CHANCE + sum(map(len, drawn)) ** 2 // _MANY

    def evidence(what: str, epoch: int = 0) -> Evidence:
        return Evidence("draws", place, epoch=epoch, wanted=(what, chance))

    if not epochs:
        # One sample may draw the same values in each epoch.
        drawers: dict[float, set[float]] = defaultdict(set)
        for row in (row for epoch in run for batch in epoch for row in batch):
            for value in row[1 : 1 + streams]:
                drawers[value].add(row[0])
        again = [value for value, ids in drawers.items() if len(ids) > 1]
        if len(again) > chance:
            words = f"{len(again)} values are drawn by more than one sample: {_few(again)}"
            return view.silent("values", words, "distinct values", again, evidence("samples"))
    before: set[float] = set()
    for number, values in enumerate(drawn):
        counts = Counter(values)
        surplus = len(values) - len(counts)
        if surplus > chance:
            twice = [value for value, count in counts.items() if count > 1]
            words = f"epoch {number}: {surplus} draws repeat another's value: {_few(twice)}"
            shown = evidence("epoch", number)
            return view.silent("values", words, "distinct values", sorted(values), shown)
        again = [value for value in values if value in before]
        if epochs and len(again) > chance:
            words = f"{len(again)} draws of epoch {number} repeat earlier values: {_few(again)}"
            shown = evidence("earlier", number)
            return view.silent("values", words, "distinct values", again, shown)
        before |= counts.keys()
    return view.passed()


def _drawn(epoch: Sequence[Batch], streams: int) -> list[float]:
    return [value for batch in epoch for row in batch for value in row[1 : 1 + streams]]


def _few(values: Sequence[float]) -> str:
    return ", ".join(f"{v:.6g}" for v in values[:3])
