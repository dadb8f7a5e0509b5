"""The position that a document must hold: what was delivered when its state was taken (pure)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.trace import Event, Trace
from midepoch_conformance.case.workload import Workload

__all__ = ["counted"]


@dataclasses.dataclass(frozen=True)
class _Count:
    """The three numbers of a position."""

    epoch: int = 0
    batches: int = 0
    samples: int = 0

    def next_epoch(self) -> _Count:
        return _Count(self.epoch + 1)


def counted(case: Case, trace: Trace) -> Iterator[tuple[tuple[int, int], dict[str, int]]]:
    """Yield the session and the step of each save and merge, with the numbers of its position.

    After a load they go on from those of the loaded document, whatever these are: an error is then
    found once. A save is left out where they are not known: after an exception, within an epoch
    that may be skipped, after a load by one of several ranks to which lanes are dealt, or if a load
    is documented to leave the live iterator as it is.
    """
    saved: dict[str, _Count | None] = {}
    deals = case.workload.ranks == "dealt"
    for index, (plan, session) in enumerate(zip(case.sessions, trace.sessions, strict=False)):
        w = case.session_workload(index)
        shared = w.ranks in ("shared", "cut anew") and plan.execution.world > 1
        walk = _Walk(saved, w if shared else None)
        for event in session.events:
            walk.event(event, plan.steps[event.step])
            if event.do == "load" and case.workload.skips and walk.here and walk.here.batches:
                walk.here = None
            if event.do in ("save", "load_merged") and walk.here is not None:
                yield (index, event.step), dataclasses.asdict(walk.here)
            if event.do.startswith("load") and deals and plan.execution.world > 1:
                walk.here = None  # the rank counts its own lanes, and may have loaded others'


class _Walk:
    """The deliveries of a session so far."""

    def __init__(self, saved: dict[str, _Count | None], shared: Workload | None) -> None:
        self.saved, self.shared = saved, shared
        self.anew(_Count())

    def anew(self, here: _Count | None) -> None:
        self.here = here
        self.moved = False  # the live iterator has delivered a batch
        self.stale = False  # the live iterator was made before the load

    def event(self, event: Event, step: Step) -> None:
        if event.do in ("take", "drain"):
            self.delivered(event)
        elif event.do == "save":
            self.saved[step.state] = _of(event.document)
        elif event.do in ("seal", "recode"):
            self.saved[step.into] = self.saved.get(step.state)
        elif event.do == "open":
            self.anew(_Count())
        elif event.do.startswith("load") and event.fault is None:
            self.anew(self.loaded(step))
            self.stale = True

    def loaded(self, step: Step) -> _Count | None:
        if step.do == "load_document":
            return _of(json.loads(step.document))
        parts = [self.saved.get(name) for name in step.state.split("/")]
        known = [part for part in parts if part is not None]
        if step.do not in ("load", "load_merged") or len(known) < len(parts):
            return None
        steps = max(part.batches for part in known)
        return _Count(known[0].epoch, steps, sum(part.samples for part in known))

    def delivered(self, event: Event) -> None:
        here = self.here
        if event.opened:
            # A new iterator leaves the epoch that the one before had begun.
            here = here.next_epoch() if here is not None and self.moved else here
            self.moved = self.stale = False
        if here is None or self.stale or event.fault is not None:
            self.here = None
            return
        samples = here.samples + sum(map(len, event.batches))
        if self.shared is not None:  # all ranks count the whole batch, without what fills it up
            samples = here.samples + len(event.batches) * self.shared.batch_size
            samples = min(samples, self.shared.n) if self.shared.tail == "keep" else samples
        here = _Count(here.epoch, here.batches + len(event.batches), samples)
        self.moved = not event.ended and (self.moved or bool(event.batches))
        self.here = here.next_epoch() if event.ended else here


def _of(document: Any) -> _Count | None:
    """Return the numbers of a document's position; None if it has none."""
    position = document.get("position") if isinstance(document, dict) else None
    names = [field.name for field in dataclasses.fields(_Count)]
    if not isinstance(position, dict) or not all(type(position.get(n)) is int for n in names):
        return None
    return _Count(*(position[name] for name in names))
