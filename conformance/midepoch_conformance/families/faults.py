"""The families of refused states, of faults, of costs and of outages (pure).

An outage is a killed process, a caught exception, a dead worker or a leak. The uninterrupted run
of "caught" fails at the same sample and continues: see
:func:`midepoch_conformance.case.uninterrupted.oracle_case`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from midepoch_conformance.case.case import CAUGHT, Case, Step
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.families.family import (
    ITERABLES,
    LANED,
    LONG,
    Cell,
    drains,
    family,
    load,
    save,
    take,
)

__all__ = ["EPOCHS_COUNTED", "HEALED", "HELD", "PLANS", "STOPPED"]

ONE = ((13, 4),)
PLANS: dict[str, tuple[tuple[str, Any], ...]] = {
    "smaller batches": (("batch_size", 3),),
    "more samples": (("n", 16),),
    "fewer samples": (("n", 7),),
    "shuffled": (("shuffle", True),),
    "not shuffled": (("shuffle", False),),
}
RANDOM_ACCESS = ("map", "files")

_fault = partial(family, section="faults")
_outage = partial(family, section="outages")


# States that cannot be continued.


@_fault("no state", quick=("inline",), shape=ONE, value=BOGUS, tail=("keep",))
def _no_state(c: Cell) -> Case:
    steps = (Step("load_bogus", value=c.value), *drains(2))
    return c.case(c.workload(2), c.session(0, *steps))


@_fault("part removed", shape=ONE, part=tuple(range(15)), kind=("map", "iterable"), tail=("keep",))
def _part_removed(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    second = c.session(1, Step("load_cut", c.part, state="s"), *drains(2))
    return c.case(c.workload(2), first, second)


@_fault("other plan", needs=("samples",), shape=ONE, plan=tuple(PLANS), tail=("keep",))
def _other_plan(c: Cell) -> Case | None:
    change = dict(PLANS[c.plan])
    if change.get("shuffle", not c.shuffle) == bool(c.shuffle):
        return None
    if "n" in change and c.kind not in RANDOM_ACCESS:
        return None  # a loader cannot compare the length of a stream
    if change in ({"n": c.shape[0]}, {"batch_size": c.shape[1]}):
        return None  # the same plan
    count = 1 if c.plan == "fewer samples" else 2
    if count >= c.length:
        return None  # the saved epoch would have no rest
    first = c.session(0, take(count), save("s"))
    second = c.session(1, load("s"), *drains(2), workload=PLANS[c.plan])
    return c.case(c.workload(1), first, second)


@_fault("after a refusal", shape=ONE, value=BOGUS, used=(False, True), tail=("keep",))
def _after_a_refusal(c: Cell) -> Case:
    bogus = Step("load_bogus", value=c.value, tolerate=True)
    if c.used:
        steps: tuple[Step, ...] = (take(1), bogus, take(1), save("s"), *drains(2))
    else:
        steps = (bogus, Step("drain", tolerate=True), take(1), save("s"), Step("drain"))
    return c.case(c.workload(2), c.session(0, *steps))


# Faults.


@_fault("killed worker", (True,), needs=("samples",), shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _killed_worker(c: Cell) -> Case:
    return c.case(c.workload(1, die_at=c.sample), c.session(0, *drains(1)))


@_fault("failing sample", needs=("samples",), shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _failing_sample(c: Cell) -> Case:
    return c.case(c.workload(1, fail_at=c.sample), c.session(0, *drains(1)))


@_fault(
    "stop iteration",
    needs=("samples",),
    shape=ONE,
    sample=(0, 6, 12),
    kind=("map",),
    tail=("keep",),
)
def _stop_iteration(c: Cell) -> Case:
    return c.case(c.workload(1, stop_at=c.sample), c.session(0, *drains(1)))


@_fault("left behind", (True,), shape=ONE, when=("mid", "end", "broken"), tail=("keep",))
def _left_behind(c: Cell) -> Case:
    steps = {
        "mid": (take(2),),
        "end": drains(1),
        "broken": (take(1), Step("break"), take(1)),
    }[c.when]
    return c.case(c.workload(2), c.session(0, *steps, Step("close")))


# Costs.


@_fault(
    "size",
    needs=("samples",),
    quick=("inline",),
    shape=(LONG,),
    kind=("map", *ITERABLES),
    tail=("keep",),
)
def _size(c: Cell) -> Case:
    steps = (take(112), save("early"), take(800), save("late"))
    return c.case(c.workload(1), c.session(0, *steps))


@_fault(
    "calls",
    needs=("samples",),
    shape=(LONG,),
    kind=("stateful_iterable",),
    interval=(100,),
    tail=("keep",),
)
def _calls(c: Cell) -> Case:
    return c.case(c.workload(1, log="auto"), c.session(0, *drains(1)))


@_fault(
    "fetched again",
    needs=("samples",),
    shape=(LONG,),
    kind=("map", "stateful_iterable"),
    tail=("keep",),
)
def _fetched_again(c: Cell) -> Case:
    first = c.session(0, take(112), save("early"), take(800), save("late"))
    second = c.session(1, load("early"), take(1))
    third = c.session(2, load("late"), take(1))
    return c.case(c.workload(1, log="auto"), first, second, third)


@_fault("iterated again", needs=("samples",), shape=ONE, kind=ITERABLES, tail=("keep",))
def _iterated_again(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    return c.case(c.workload(2, log="auto"), first, c.session(1, load("s"), *drains(2)))


# Outages.


_ON = Step("drain", tolerate=True)

STOPPED: dict[str, tuple[Step, ...]] = {
    "before": (Step("take", 1, tolerate=True),),
    "right after": (_ON,),
    "later": (_ON, Step("take", 1, tolerate=True)),
}
"""The deliveries before the state is taken; a tolerated drain stops at the fault."""

_USE = (take(2), Step("close"), Step("count"))
_AGAIN = (load("s"), Step("break"), take(1), Step("count"))

HELD: dict[str, tuple[Step, ...]] = {
    "closed": (*_USE, Step("open"), *_USE, Step("open"), *_USE),
    "loaded anew": (take(1), save("s"), Step("count"), *_AGAIN, *_AGAIN),
}
"""Equal rounds with a count after each: a leak grows from round to round."""

EPOCHS_COUNTED = 8
"""The epochs over which fetches are counted: more than an epoch has samples, see COST-5."""


@_outage("killed", shape=ONE, cut=("half",), tail=("keep",))
def _killed(c: Cell) -> Case:
    first = c.session(0, take(c.at), save("s"), take(1), Step("kill"))
    return c.case(c.workload(2), first, c.session(1, load("s"), *drains(2)))


@_outage(
    CAUGHT,
    needs=("samples",),
    shape=ONE,
    kind=("map",),
    sample=(1, 6),
    where=tuple(STOPPED),
    tail=("keep",),
)
def _caught(c: Cell) -> Case:
    first = c.session(0, *STOPPED[c.where], save("s"))
    # Two drains an epoch: up to the fault, and from there to the end.
    second = c.session(1, load("s"), *(_ON,) * 4)
    return c.case(c.workload(2, fail_at=c.sample), first, second)


@_outage("after a death", (True,), needs=("samples",), shape=ONE, sample=(0, 6), tail=("keep",))
def _after_a_death(c: Cell) -> Case:
    first = c.session(0, _ON, save("s"))
    second = c.session(1, load("s"), *drains(2), workload=(("die_at", None),))
    return c.case(c.workload(2, die_at=c.sample), first, second)


HEALED: dict[str, tuple[tuple[Step, ...], ...]] = {
    "through": (drains(2),),
    "during": ((take(3), save("s")), (load("s"), *drains(2))),
    "later": ((Step("drain"), take(1), save("s")), (load("s"), *drains(1))),
}
"""The sessions of a loader that replaces its workers; a worker dies in the first session."""


@_outage(
    "healed", (True,), needs=("samples",),
    shape=ONE, kind=("map", *LANED), sample=(9, 0), where=tuple(HEALED),
    tail=("keep",),
)  # fmt: skip
def _healed(c: Cell) -> Case:
    plans = [
        c.session(number, *steps, restarts=2, workload=(("die_at", None),) if number else ())
        for number, steps in enumerate(HEALED[c.where])
    ]
    return c.case(c.workload(2, die_at=c.sample, die_once=True, log="auto"), *plans)


@_outage(
    "killed again",
    (True,),
    needs=("samples",),
    shape=ONE,
    kind=("map",),
    sample=(6,),
    tail=("keep",),
)
def _killed_again(c: Cell) -> Case:
    return c.case(c.workload(1, die_at=c.sample), c.session(0, *drains(1), restarts=2))


@_outage(
    "failing start",
    needs=("samples",),
    shape=ONE,
    kind=ITERABLES,
    where=("started", "resumed"),
    tail=("keep",),
)
def _failing_start(c: Cell) -> Case:
    # Only streams other than the plain one have something to set up.
    if c.where == "started":
        workload = c.workload(1, stream="filter", fail_at=-1)
        return c.case(workload, c.session(0, *drains(1)))
    first = c.session(0, take(2), save("s"))
    second = c.session(1, load("s"), *drains(1), workload=(("fail_at", -1),))
    return c.case(c.workload(1, stream="filter"), first, second)


@_outage("held", shape=ONE, when=tuple(HELD), tail=("keep",))
def _held(c: Cell) -> Case:
    return c.case(c.workload(2), c.session(0, *HELD[c.when]))


@_outage("fetched once", needs=("samples",), shape=((EPOCHS_COUNTED - 1, 2),), tail=("keep",))
def _fetched_once(c: Cell) -> Case:
    workload = c.workload(EPOCHS_COUNTED, log="auto")
    return c.case(workload, c.session(0, *drains(EPOCHS_COUNTED)))
