"""The families of refused states, of faults, of costs and of outages (pure).

An outage is a killed process, a caught exception, a dead worker or a leak. The uninterrupted run
of "caught" fails at the same sample and continues: see
:func:`midepoch_conformance.case.uninterrupted.oracle_case`.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from midepoch_conformance.case.case import CAUGHT, Case, SessionPlan, Step
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import (
    GOES_ON,
    ITERABLES,
    LANED,
    LONG,
    Cell,
    family,
    load,
    save,
    take,
)
from midepoch_conformance.families.family import (
    drain_steps as drains,
)

__all__ = ["EPOCHS_COUNTED", "HEALED", "HELD", "PLANS", "STOPPED"]

ONE = ((13, 4),)
PLANS: dict[str, tuple[tuple[str, Any], ...]] = {
    "smaller batches": (("batch_size", 3),),
    "more samples": (("n", 16),),
    "fewer samples": (("n", 7),),
    "larger batches": (("batch_size", 5),),
    "shuffled": (("shuffle", True),),
    "not shuffled": (("shuffle", False),),
    "another seed": (("seed", 4),),
    "dropped": (("tail", "drop"),),
    "kept": (("tail", "keep"),),
    "rolled over": (("tail", "rollover"),),
    "a stream": (("kind", "iterable"),),
    "random access": (("kind", "map"),),
    "a sampler": (("sampler", "custom"),),
    "no sampler": (("sampler", ""),),
    "everything": (("batch_size", 3), ("seed", 4), ("shuffle", False), ("tail", "drop")),
}
"""The fields of the plan that differ when the state is loaded: each that an offer can vary."""
RANDOM_ACCESS = ("map", "files")

GROWING = ("epoch", "epochs", "resumes")
"""The measures that a cost may grow with: the batches of an epoch, the epochs, or the resumes."""
SAVED, FAR, SHORT, DEEP = 6, 130, 120, 20
"""How often a state is saved, how many batches lie between two states of a long epoch, the samples
of a short one, and how many batches deep its states are taken. The counts of batches and samples
have equally many digits each time."""

MANY = 30
"""So many states are saved in a row, one after each batch."""

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


@_fault(
    "other plan", needs=("samples",),
    shape=ONE, plan=tuple(PLANS), tail=("keep", "drop", "rollover"),
)  # fmt: skip
def _other_plan(c: Cell) -> Case | None:
    change = dict(PLANS[c.plan])
    w = c.workload(1, sampler="custom" if c.plan == "no sampler" else "")
    if any(getattr(w, name) == value for name, value in change.items()):
        return None  # the same plan
    random_access = ("map", "stateful_map")
    if "seed" in change and not (c.shuffle and c.kind in random_access):
        return None  # nothing depends on the seed
    if (w.sampler or change.get("sampler")) and (c.shuffle or c.kind not in random_access):
        return None  # a user's sampler takes the place of the loader's own
    over = "rollover" in (c.tail, change.get("tail"))
    if over and (c.kind not in random_access or change.get("kind")):
        return None  # a stream does not roll over
    if change.get("kind") and (c.shuffle or c.kind not in ("map", "iterable")):
        return None  # a stream is not shuffled, and no state may get lost
    if "n" in change and c.kind not in RANDOM_ACCESS:
        return None  # a loader cannot compare the length of a stream
    count = 1 if c.plan == "fewer samples" else 2
    if count >= c.length:
        return None  # the saved epoch would have no rest
    first = c.session(0, take(count), save("s"))
    second = c.session(1, load("s"), *drains(2), workload=PLANS[c.plan])
    return c.case(w, first, second)


@_fault("after a refusal", shape=ONE, value=BOGUS, used=(False, True, "left"), tail=("keep",))
def _after_a_refusal(c: Cell) -> Case | None:
    if c.used == "left" and c.workers:
        return None  # no worker is there between two epochs
    bogus = Step("load_bogus", value=c.value, tolerate=True)
    if c.used == "left":
        steps: tuple[Step, ...] = (take(1), Step("break"), bogus, take(1), save("s"), *drains(1))
    elif c.used:
        steps = (take(1), bogus, take(1), save("s"), *drains(2))
    else:
        steps = (bogus, Step("drain", tolerate=True), take(1), save("s"), Step("drain"))
    return c.case(c.workload(2), c.session(0, *steps), c.session(1, load("s"), *drains(2)))


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
    where=GROWING,
    tail=("keep",),
)
def _size(c: Cell) -> Case:
    if c.where == "resumes":
        return _chained(c, c.workload(1))
    return c.case(*_saving_often(c))


@_fault(
    "calls",
    needs=("samples",),
    shape=(LONG,),
    kind=("stateful_iterable", "stateful_map"),
    interval=(100, 3),
    where=(*GROWING, "saves"),
    tail=("keep",),
)
def _calls(c: Cell) -> Case | None:
    if c.where == "epoch":
        return c.case(c.workload(1, log="auto"), c.session(0, *drains(1)))
    if c.where == "saves":
        if c.interval < MANY:
            return None  # a snapshot for every few of the states
        steps = [step for number in range(MANY) for step in (take(1), save(f"s{number}"))]
        return c.case(c.workload(1, log="auto"), c.session(0, *steps))
    w = dataclasses.replace(c.workload(SAVED, log="auto"), n=SHORT)
    return _chained(c, w) if c.where == "resumes" else c.case(w, c.session(0, *drains(SAVED)))


@_fault(
    "fetched again",
    needs=("samples",),
    shape=(LONG,),
    kind=("map", "stateful_iterable", "stateful_map"),
    where=GROWING,
    interval=(1, 3),
    tail=("keep",),
)
def _fetched_again(c: Cell) -> Case:
    if c.where == "resumes":
        return _chained(c, c.workload(1, log="auto"))
    w, first = _saving_often(c, log="auto")
    resumed = [c.session(number + 1, load(f"s{number}"), take(1)) for number in range(SAVED)]
    return c.case(w, first, *resumed)


def _saving_often(c: Cell, **more: Any) -> tuple[Workload, SessionPlan]:
    """Return a session that saves at equal distances: in one epoch, or once in each."""
    steps: list[Step] = []
    for number in range(SAVED):
        if c.where == "epoch":
            steps += [take(FAR if number else 2 * FAR), save(f"s{number}")]
        else:
            steps += [take(DEEP), save(f"s{number}"), Step("drain")]
    w = c.workload(1 if c.where == "epoch" else SAVED, **more)
    if c.where != "epoch":
        w = dataclasses.replace(w, n=SHORT)
    return w, c.session(0, *steps)


def _chained(c: Cell, w: Workload) -> Case:
    """Return a chain of resumes, each of which takes a batch and saves."""
    w = dataclasses.replace(w, n=SHORT, epochs=1)
    sessions = [c.session(0, take(DEEP), save("s0"))]
    for number in range(1, SAVED + 1):
        steps = (load(f"s{number - 1}"), take(1), save(f"s{number}"))
        sessions.append(c.session(number, *steps))
    return c.case(w, *sessions)


@_fault(
    "iterated again", needs=("samples",), shape=ONE, kind=ITERABLES, tail=("keep",),
    where=("mid", "later", "chain"),
)  # fmt: skip
def _iterated_again(c: Cell) -> Case:
    before = drains(c.where == "later")
    sessions = [c.session(0, *before, take(1), save("s"))]
    if c.where == "chain":
        sessions.append(c.session(1, load("s"), take(1), save("t")))
    last = c.session(len(sessions), load("t" if c.where == "chain" else "s"), *drains(2))
    return c.case(c.workload(3, log="auto"), *sessions, last)


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
    kind=("map", *LANED),
    sample=(1, 6),
    where=tuple(STOPPED),
    interval=(1, 100),
    tail=("keep",),
)
def _caught(c: Cell) -> Case:
    first = c.session(0, *STOPPED[c.where], save("s"))
    # Two drains an epoch: up to the fault, and from there to the end.
    second = c.session(1, load("s"), *(_ON,) * 4)
    stream = GOES_ON if c.kind in ITERABLES else "plain"
    return c.case(c.workload(2, fail_at=c.sample, stream=stream), first, second)


INTERRUPTED: dict[str, tuple[Step, ...]] = {
    "goes on": (take(0), _ON, _ON, Step("drain")),
    "saved": (_ON, save("s")),
    "saved later": (_ON, Step("take", 1, tolerate=True), save("s")),
    "left": (_ON, Step("break"), *drains(1)),
}
"""The steps around an interrupt, which a tolerated drain stops at."""


@_outage(
    "interrupted", needs=("samples",),
    shape=ONE, kind=("map", *ITERABLES, "stateful_map"), sample=(6, 0), where=tuple(INTERRUPTED),
    interval=(1, 3), tail=("keep",),
)  # fmt: skip
def _interrupted(c: Cell) -> Case | None:
    if c.where == "left" and (not c.sample or c.kind == "stateful_map"):
        return None  # the loader decides whether the epoch was begun, or its rows remember that
    workload = c.workload(3, interrupt_at=c.sample, log="auto")
    first = c.session(0, *INTERRUPTED[c.where])
    if "saved" not in c.where:
        return c.case(workload, first)
    quiet = (("interrupt_at", None),)
    return c.case(workload, first, c.session(1, load("s"), *drains(2), workload=quiet))


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
    shape=(*ONE, (13, 1)), kind=("map", *LANED), sample=(9, 0), where=tuple(HEALED),
    interval=(1, 3, 100), tail=("keep",),
)  # fmt: skip
def _healed(c: Cell) -> Case | None:
    if (c.interval == 100) is not (c.shape[1] == 1):
        return None  # many batches since the last snapshot, or few
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


@_outage(
    "fetched once", needs=("samples",),
    shape=((EPOCHS_COUNTED - 1, 2),), where=("fresh", "resumed"), tail=("keep",),
)  # fmt: skip
def _fetched_once(c: Cell) -> Case:
    counted = drains(EPOCHS_COUNTED)
    if c.where == "fresh":
        return c.case(c.workload(EPOCHS_COUNTED, log="auto"), c.session(0, *counted))
    first = c.session(0, Step("drain"), take(1), save("s"))
    workload = c.workload(EPOCHS_COUNTED + 1, log="auto")
    return c.case(workload, first, c.session(1, load("s"), *counted))
