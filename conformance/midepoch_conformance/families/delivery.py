"""The families of delivery: out of order, to several ranks, and into memory that is held (pure).

Out of order, batches come as they become ready. A gate holds one sample of the first batch until
another worker has begun a later batch, so batches do overtake each other. Nothing depends on
time: the case asks the same if no batch overtakes another.

Ranks are played one after the other. The execution tells the adapter its rank; the user's
distributed sampler decides the order of the samples.

Every family holds the batches that it delivered; the family of held batches writes into them.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.basics import ONES
from midepoch_conformance.families.family import (
    LANED,
    Cell,
    family,
    load,
    save,
    take,
)
from midepoch_conformance.families.family import (
    drain_steps as drains,
)

__all__ = ["RESIZED", "SIZES", "WIDTHS", "WORLDS"]

_out_of_order = partial(family, section="unordered")
_of_ranks = partial(family, section="ranks")
_of_held = partial(family, section="held")


# Out of order.


SHAPES = ((13, 2),)
KINDS = ("map", "iterable", "stateful_iterable", "stateful_map")
SIZES = ((2, 0), (3, 2), (2, 3))
"""The worker counts before and after; the plan has as many lanes as workers before."""


@_out_of_order(
    "unordered", needs=("samples",),
    shape=SHAPES, kind=KINDS, links=(2, 1, 0), position=(1, 3), then=(False, True),
    tail=("keep",),
)  # fmt: skip
def _unordered(c: Cell) -> Case | None:
    """Play with any number of resumes; with ``then`` the last session is in order."""
    if c.then and not c.links:
        return None
    w = c.workload(2)
    if c.links * c.position >= usual_length(w, c.execution()):
        return None
    gates = [_gate(w, c.execution(), number) for number in range(c.links + 1)]
    if c.then:
        gates[-1] = None  # no batch may overtake another
    sessions = [_link(c, number) for number in range(c.links)]
    steps = (*([load(f"s{c.links - 1}")] if c.links else []), *drains(2))
    sessions.append(c.session(c.links, *steps, in_order=bool(c.then)))
    return _gated(c, w, gates, sessions)


@_out_of_order(
    "unordered elastic", (True,), needs=("samples", "fixed plan"),
    shape=SHAPES, kind=KINDS, sizes=SIZES, position=(3,),
    tail=("keep",),
)  # fmt: skip
def _elastic(c: Cell) -> Case:
    before, after = c.sizes
    w = c.workload(2)
    lanes = before if c.kind in LANED else None
    first = _link(c, 0, workers=before, lanes=lanes)
    second = c.session(1, load("s0"), *drains(2), in_order=False, workers=after, lanes=lanes)
    gates = [_gate(w, plan.execution, number) for number, plan in enumerate((first, second))]
    return _gated(c, w, gates, [first, second])


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


def _gated(c: Cell, w: Workload, gates: list[Gate | None], plans: list[SessionPlan]) -> Case:
    """Return the case with its gates; a session states its gate if the first has another."""
    if any(gates):
        w = dataclasses.replace(w, gate=gates[0], log="auto")
        plans = [
            dataclasses.replace(plan, workload=(("gate", gate),) if gate != gates[0] else ())
            for plan, gate in zip(plans, gates, strict=True)
        ]
    return c.case(w, *plans)


# Ranks.

WORLDS = (2, 3)
RESIZED = ((2, 1), (2, 4), (4, 2))
"""The numbers of ranks before and after; each of them divides the samples evenly."""


@_of_ranks("ranks", shape=((13, 2), (12, 2)), kind=("map",), ranks=WORLDS, tail=("keep",))
def _ranks(c: Cell) -> Case:
    worlds = range(c.ranks)
    # Each rank continues after it has saved: its resume is compared with that run.
    saved = [
        c.session(r, take(1), save(f"s{r}"), *drains(2), rank=r, world=c.ranks) for r in worlds
    ]
    resumed = [
        c.session(c.ranks + r, load(f"s{r}"), *drains(2), rank=r, world=c.ranks) for r in worlds
    ]
    return c.case(c.workload(2, sampler="distributed"), *saved, *resumed)


@_of_ranks("resized ranks", shape=((16, 1),), kind=("map",), worlds=RESIZED, tail=("keep",))
def _resized_ranks(c: Cell) -> Case:
    before, after = c.worlds
    saved = [c.session(r, take(1), save(f"s{r}"), rank=r, world=before) for r in range(before)]
    # A new rank has no state of its own and takes that of the rank that it would have been.
    resumed = [
        c.session(before + r, load(f"s{r % before}"), *drains(2), rank=r, world=after)
        for r in range(after)
    ]
    return c.case(c.workload(1, sampler="distributed"), *saved, *resumed)


# Held batches.

WIDTHS = (16384, 64)
"""The numbers in a row: a row has 128 KB, or half a KB."""


@_of_held(
    "written over", shape=ONES, kind=("map", "iterable", "stateful_iterable"), width=WIDTHS,
    then=(False, True), tail=("keep",),
)  # fmt: skip
def _written_over(c: Cell) -> Case:
    """Write into delivered batches; with ``then``, save a state after that and resume it.

    The epochs have many batches: a loader uses memory again only once it has enough of it.
    """
    write = Step("overwrite")
    steps = (take(2), write)
    w = c.workload(2, width=c.width)
    if not c.then:
        return c.case(w, c.session(0, *steps, *drains(2)))
    first = c.session(0, *steps, save("s"), *drains(2))
    return c.case(w, first, c.session(1, load("s"), take(1), write, *drains(2)))
