"""Unordered: batches may come as they become ready, and each sample comes once."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.trace import Batch, SessionTrace
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import show, unwhole
from midepoch_conformance.verdict.evidence import Evidence, Piece
from midepoch_conformance.verdict.finding import Finding, in_words, is_refusal

__all__: list[str] = []


@judge("UNORD-1", "unordered", "unordered elastic", "unordered caught up", "unordered sampler")
def each_once(view: View) -> Finding | None:
    """Each epoch holds each sample once, all its sessions taken together."""
    epochs: list[list[Batch]] = [[]]
    ended = 0
    for index in range(len(view.case.sessions)):
        session = view.session(index)
        if session is None:
            return view.blocked("the play did not get there")
        if session.fault is not None and is_refusal(session.fault, 0):
            # Nothing was loaded yet: the loader does not offer this cell.
            return view.not_offered(in_words(session.fault))
        for event in session.events:
            epochs[-1] += event.batches
            if event.ended:
                epochs.append([])
                ended += 1
        fault = session.first_fault()
        if fault is not None:
            found = view.of_fault(fault, _since_load(session), index)
            return dataclasses.replace(found, words=f"session {index + 1}: {found.words}")
    w = view.case.workload
    for number, epoch in enumerate(epochs[:ended]):
        wrong = unwhole(epoch, w.n)
        if wrong is not None:
            resumes = len(view.case.sessions) - 1 if number == 0 else 0
            after = f", resumed {resumes} time{'s' if resumes > 1 else ''}" if resumes else ""
            words = f"epoch {number}{after}: {show(epoch)}: {wrong.words}"
            whole = f"samples 0 to {w.n - 1}, each once"
            return view.silent(wrong.kind, words, whole, epoch, _of_epoch(view, number))
    return view.passed()


def _of_epoch(view: View, number: int) -> Evidence:
    """Return the places of an epoch's samples: all sessions have a part in the first epoch."""
    last = len(view.case.sessions) - 1
    pieces = tuple(Piece(index, 0, 0) for index in range(last + 1))
    pieces = pieces if number == 0 else (Piece(last, 0, number),)
    return Evidence("samples", last, pieces=pieces, wanted=(view.case.workload.n,))


def _since_load(session: SessionTrace) -> int:
    """Return how many batches came since the last load that was not refused."""
    count = 0
    for event in session.events:
        count += len(event.batches)
        if event.do == "load" and event.fault is None:
            count = 0
    return count
