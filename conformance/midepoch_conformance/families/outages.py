"""The families of outages: a killed process, an exception that is caught, a dead worker, leaks.

Pure. The uninterrupted run of "caught" fails at the same sample and goes on: see
:func:`midepoch_conformance.case.uninterrupted.oracle_case`.
"""

from __future__ import annotations

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.families.axes import ITERABLES, LANED, Cell, drains, load, save, take
from midepoch_conformance.families.family import probe

__all__ = ["CAUGHT", "EPOCHS_COUNTED", "HEALED", "HELD"]

_ONE = ((13, 4),)
_ON = Step("drain", tolerate=True)

CAUGHT: dict[str, tuple[Step, ...]] = {
    "before": (Step("take", 1, tolerate=True),),
    "right after": (_ON,),
    "later": (_ON, Step("take", 1, tolerate=True)),
}
"""What is delivered before the state is taken; a drain that is tolerated stops at the fault."""

_USE = (take(2), Step("close"), Step("count"))
_AGAIN = (load("s"), Step("break"), take(1), Step("count"))

HELD: dict[str, tuple[Step, ...]] = {
    "closed": (*_USE, Step("open"), *_USE, Step("open"), *_USE),
    "loaded anew": (take(1), save("s"), Step("count"), *_AGAIN, *_AGAIN),
}
"""Equal rounds with a count after each: what grows from round to round is not given back."""

EPOCHS_COUNTED = 8
"""Epochs over which fetches are counted: more than there are samples in one, see COST-5."""


@probe("killed", shape=_ONE, cut=("half",), tail=("keep",))
def _killed(c: Cell) -> Case:
    first = c.session(0, take(c.at), save("s"), take(1), Step("kill"))
    return c.case(c.workload(2), first, c.session(1, load("s"), *drains(2)))


@probe("caught", shape=_ONE, kind=("map",), sample=(1, 6), where=tuple(CAUGHT), tail=("keep",))
def _caught(c: Cell) -> Case:
    first = c.session(0, *CAUGHT[c.where], save("s"))
    # Two drains an epoch: up to the fault, and from there to the end.
    second = c.session(1, load("s"), *(_ON,) * 4)
    return c.case(c.workload(2, fail_at=c.sample), first, second)


@probe("after a death", (True,), shape=_ONE, sample=(0, 6), tail=("keep",))
def _after_a_death(c: Cell) -> Case:
    first = c.session(0, _ON, save("s"))
    second = c.session(1, load("s"), *drains(2), workload=(("die_at", None),))
    return c.case(c.workload(2, die_at=c.sample), first, second)


HEALED: dict[str, tuple[tuple[Step, ...], ...]] = {
    "through": (drains(2),),
    "during": ((take(3), save("s")), (load("s"), *drains(2))),
    "later": ((Step("drain"), take(1), save("s")), (load("s"), *drains(1))),
}
"""What is asked of a loader that replaces its workers: one of them dies in the first session."""


@probe(
    "healed", (True,), shape=_ONE, kind=("map", *LANED), sample=(9, 0), where=tuple(HEALED),
    tail=("keep",),
)  # fmt: skip
def _healed(c: Cell) -> Case:
    plans = [
        c.session(number, *steps, restarts=2, workload=(("die_at", None),) if number else ())
        for number, steps in enumerate(HEALED[c.where])
    ]
    return c.case(c.workload(2, die_at=c.sample, die_once=True, log="auto"), *plans)


@probe("killed again", (True,), shape=_ONE, kind=("map",), sample=(6,), tail=("keep",))
def _killed_again(c: Cell) -> Case:
    return c.case(c.workload(1, die_at=c.sample), c.session(0, *drains(1), restarts=2))


@probe("failing start", shape=_ONE, kind=ITERABLES, where=("started", "resumed"), tail=("keep",))
def _failing_start(c: Cell) -> Case:
    # What is set up is what makes the rows of any stream but the plain one.
    if c.where == "started":
        workload = c.workload(1, stream="filter", fail_at=-1)
        return c.case(workload, c.session(0, *drains(1)))
    first = c.session(0, take(2), save("s"))
    second = c.session(1, load("s"), *drains(1), workload=(("fail_at", -1),))
    return c.case(c.workload(1, stream="filter"), first, second)


@probe("held", shape=_ONE, when=tuple(HELD), tail=("keep",))
def _held(c: Cell) -> Case:
    return c.case(c.workload(2), c.session(0, *HELD[c.when]))


@probe("fetched once", shape=((EPOCHS_COUNTED - 1, 2),), tail=("keep",))
def _fetched_once(c: Cell) -> Case:
    workload = c.workload(EPOCHS_COUNTED, log="auto")
    return c.case(workload, c.session(0, *drains(EPOCHS_COUNTED)))
