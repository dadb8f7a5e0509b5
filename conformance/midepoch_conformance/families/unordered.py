"""The families of batches that come out of order: as they become ready (pure).

A gate holds one sample of the first batch until another worker has begun a later one, so that
batches do overtake each other. Nothing is decided by time: where none overtakes, the case asks
what it asks all the same.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.axes import LANED, Cell, drains, load, save, take
from midepoch_conformance.families.family import probe

__all__ = ["SIZES", "UNORDERED"]

SHAPES = ((13, 2),)
KINDS = ("map", "iterable", "stateful_iterable", "stateful_map")
SIZES = ((2, 0), (3, 2), (2, 3))
"""Worker counts before and after the change; the plan has as many lanes as the first."""

UNORDERED = frozenset({"unordered", "unordered elastic"})
"""The families of this module."""


@probe(
    "unordered", shape=SHAPES, kind=KINDS, links=(2, 1, 0), position=(1, 3), then=(False, True),
    tail=("keep",),
)  # fmt: skip
def _unordered(c: Cell) -> Case | None:
    """Play without a resume, with one, or with several; ``then``: the last is in order."""
    if c.then and not c.links:
        return None
    w = c.workload(2)
    if c.links * c.position >= usual_length(w, c.execution()):
        return None
    gates = [_gate(w, c.execution(), number) for number in range(c.links + 1)]
    if c.then:
        gates[-1] = None  # nothing may overtake it
    sessions = [_link(c, number) for number in range(c.links)]
    steps = (*([load(f"s{c.links - 1}")] if c.links else []), *drains(2))
    sessions.append(c.session(c.links, *steps, in_order=bool(c.then)))
    return _held(c, w, gates, sessions)


@probe(
    "unordered elastic", (True,), shape=SHAPES, kind=KINDS, sizes=SIZES, position=(3,),
    tail=("keep",),
)  # fmt: skip
def _elastic(c: Cell) -> Case:
    before, after = c.sizes
    w = c.workload(2)
    lanes = before if c.kind in LANED else None
    first = _link(c, 0, workers=before, lanes=lanes)
    second = c.session(1, load("s0"), *drains(2), in_order=False, workers=after, lanes=lanes)
    gates = [_gate(w, plan.execution, number) for number, plan in enumerate((first, second))]
    return _held(c, w, gates, [first, second])


def _link(c: Cell, number: int, **changes: Any) -> SessionPlan:
    """Return a session that takes a few batches and saves."""
    steps = (*([load(f"s{number - 1}")] if number else []), take(c.position), save(f"s{number}"))
    return c.session(number, *steps, in_order=False, **changes)


Gate = tuple[int, int]


def _gate(w: Workload, x: Execution, number: int) -> Gate | None:
    """Return the gate that holds the first batch until another worker is batches ahead."""
    if x.workers < 2 or w.shuffle:
        return None
    if w.kind in ("map", "stateful_map"):
        samples = range(w.n)[w.batch_size * (x.workers * (number + 1) + 1) :]
    else:
        samples = range(w.n)[1 :: x.lanes or x.workers][w.batch_size * (number + 1) :]
    return (0, samples[0]) if samples else None


def _held(c: Cell, w: Workload, gates: list[Gate | None], plans: list[SessionPlan]) -> Case:
    """Return the case with its gates; a session says only what is not the first's."""
    if any(gates):
        w = dataclasses.replace(w, gate=gates[0], log="auto")
        plans = [
            dataclasses.replace(plan, workload=(("gate", gate),) if gate != gates[0] else ())
            for plan, gate in zip(plans, gates, strict=True)
        ]
    return c.case(w, *plans)
