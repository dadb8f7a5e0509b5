"""The batches of a failing case, session by session, small enough to be drawn (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Batch, Event, SessionTrace, Trace
from midepoch_conformance.case.uninterrupted import Place, counted, places
from midepoch_conformance.case.words import describe_execution, describe_step
from midepoch_conformance.verdict.finding import in_words

__all__ = ["Delivered", "delivered", "epoch_lengths"]

_BATCHES, _IDS = 64, 16
"""The most batches of an epoch or a step that are kept, and the most ids of a batch."""


@dataclasses.dataclass(frozen=True)
class Delivered:
    """One more play of a case, in ids."""

    uninterrupted: list[list[list[Any]]]
    """The batches of each epoch of the uninterrupted run."""

    sessions: list[dict[str, Any]]
    """Each session: its execution in ``words`` and its ``steps``; a step has ``do``, ``words``,
    the ``state`` that it takes or loads, the ``epoch`` and the batches delivered of it before
    (``at``), its ``batches``, whether the epoch ``ended``, and the ``fault`` in words."""

    capped: bool = False
    """Whether batches or ids were left out."""

    def to_json(self) -> dict[str, Any]:
        """Return the play as JSON types."""
        return dataclasses.asdict(self)


def delivered(case: Case, trace: Trace, oracle: Trace | None) -> Delivered:
    """Return the batches of ``trace``, beside the uninterrupted run if there is one.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> from midepoch_conformance.case.case import SessionPlan
        >>> from midepoch_conformance.case.trace import Event, SessionTrace
        >>> from midepoch_conformance.case.workload import Workload
        >>> case = Case("plain", Workload(), (SessionPlan(Execution(), (Step("take", 1),)),))
        >>> event = Event(0, "take", batches=[[[0], [1]]], opened=True)
        >>> delivered(case, Trace(case.id, [SessionTrace([event])]), None).sessions[0]["steps"]
        [{'do': 'take', 'words': 'deliver 1 batch', 'epoch': 0, 'at': 0, 'batches': [[0, 1]]}]
    """
    epochs = _epochs(oracle) if oracle is not None else []
    cutter = _Cutter()
    lengths = [len(epoch) for epoch in epochs]
    if lengths:
        case = counted(case, lengths)
    walked = places(case, lengths)
    sessions = [
        {
            "words": _session(plan),
            "steps": _steps(plan.steps, session, before, cutter),
        }
        for plan, session, before in zip(case.sessions, trace.sessions, walked, strict=False)
    ]
    uninterrupted = [cutter.batches(epoch) for epoch in epochs]
    return Delivered(uninterrupted, sessions, cutter.cut)


def _session(plan: SessionPlan) -> str:
    size = dict(plan.workload).get("batch_size")
    return describe_execution(plan.execution) + (f", in batches of {size}" if size else "")


def epoch_lengths(oracle: Trace) -> list[int]:
    """Return the number of batches of each epoch of an uninterrupted run."""
    return [len(epoch) for epoch in _epochs(oracle)]


def _epochs(oracle: Trace) -> list[list[Batch]]:
    epochs: list[list[Batch]] = []
    for session in oracle.sessions:
        for event in session.events:
            if event.opened:
                epochs.append([])
            if epochs:
                epochs[-1] += event.batches
    return epochs


class _Cutter:
    """Shortens batches to their ids, and knows whether any were left out."""

    def __init__(self) -> None:
        self.cut = False

    def batches(self, batches: Sequence[Batch]) -> list[list[Any]]:
        self.cut |= len(batches) > _BATCHES or any(len(batch) > _IDS for batch in batches)
        return [[_id(row) for row in batch[:_IDS]] for batch in batches[:_BATCHES]]


def _id(row: Sequence[Any]) -> Any:
    first = row[0] if row else None
    return int(first) if isinstance(first, float) and first.is_integer() else first


def _steps(
    steps: Sequence[Step], session: SessionTrace, before: Sequence[Place], cutter: _Cutter
) -> list[dict[str, Any]]:
    """Return the steps that were played; one opening step if the loader could not be opened."""
    if session.fault is not None and not session.events:
        return [{"do": "open", "words": "build the loader", "fault": in_words(session.fault)}]
    return [_step(steps[event.step], event, before[event.step], cutter) for event in session.events]


def _step(step: Step, event: Event, place: Place, cutter: _Cutter) -> dict[str, Any]:
    line: dict[str, Any] = {"do": step.do, "words": describe_step(step)}
    if step.state:
        line["state"] = step.into or step.state
    line |= {"epoch": place.epoch, "at": place.done}
    if step.do in ("take", "drain") or event.batches:
        line["batches"] = cutter.batches(event.batches)
    if event.ended:
        line["ended"] = True
    if event.fault is not None:
        line["fault"] = in_words(event.fault, len(event.batches))
    return line
