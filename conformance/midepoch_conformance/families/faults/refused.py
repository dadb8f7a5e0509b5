"""The families of refused states and of faults in fresh runs (pure)."""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.families.family import (
    LANED,
    Cell,
    family,
)

__all__ = ["PLANS"]

ONE = ((13, 4),)
PLANS = {
    "smaller batches": "batch_size=3",
    "more samples": "n=16",
    "fewer samples": "n=7",
    "larger batches": "batch_size=5",
    "shuffled": "shuffle=true",
    "not shuffled": "shuffle=false",
    "another seed": "seed=4",
    "dropped": "tail=drop",
    "kept": "tail=keep",
    "rolled over": "tail=rollover",
    "a stream": "kind=iterable",
    "random access": "kind=map",
    "a sampler": "sampler=custom",
    "no sampler": 'sampler=""',
    "everything": "batch_size=3 seed=4 shuffle=false tail=drop",
    "more lanes": "lanes=3",
    "one lane": "lanes=1",
}
"""The fields of the plan that differ when the state is loaded: each that an offer can vary."""

_fault = partial(family, section="faults")


# States that cannot be continued.


@_fault(
    "no state",
    bites=("several epochs", "shuffled"),
    quick=("inline",),
    shape=ONE,
    value=BOGUS,
    tail=("keep",),
)
def _no_state(c: Cell) -> Case:
    return c.play(f"load_bogus {c.value}, drain, drain")


@_fault(
    "part removed",
    bites=("shuffled", "workers"),
    shape=ONE,
    part=tuple(range(15)),
    kind=("map", "iterable"),
    tail=("keep",),
)
def _part_removed(c: Cell) -> Case:
    # A lane that has the turn and is not the first: a loader may take a missing turn for the first.
    count = 1 if c.workers == 2 else 2
    return c.play(f"take {count}, save s | load_cut s {c.part}, drain, drain")


@_fault(
    "other plan",
    bites=("a tail dropped", "more lanes than workers", "shuffled"),
    needs=("samples",),
    shape=ONE,
    plan=tuple(PLANS),
    tail=("keep", "drop", "rollover"),
)
def _other_plan(c: Cell) -> Case | None:
    w = c.workload(1, sampler="custom" if c.plan == "no sampler" else "")
    count = 1 if c.plan == "fewer samples" else 2
    of_lanes = c.plan in ("more lanes", "one lane")
    if of_lanes and (c.kind not in LANED or c.workers not in (None, 2) or c.shuffle):
        return None  # only some kinds have lanes, and two of them are the state's
    lanes = {"lanes": 2} if of_lanes else {}
    case = c.play(f"take {count}, save s | [{PLANS[c.plan]}] load s, drain, drain", w, **lanes)
    change = dict(case.sessions[1].workload)
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
    if "n" in change and c.kind != "map":
        return None  # a loader cannot compare the length of a stream
    return case if count < c.length else None  # the saved epoch needs a rest


REFUSED = {
    False: "{bogus}, drain?, take 1, save s, drain",
    True: "take 1, {bogus}, take 1, save s, drain, drain",
    "left": "take 1, break, {bogus}, take 1, save s, drain",
    "loaded": "take 2, save s | load s, {bogus}, drain, drain",
}
"""The runs that go on after a refusal, by the use of the loader before it."""


@_fault(
    "after a refusal",
    bites=("a value refused", "saved after a broken epoch"),
    shape=ONE,
    value=BOGUS,
    used=tuple(REFUSED),
    tail=("keep",),
)
def _after_a_refusal(c: Cell) -> Case | None:
    if c.used == "left" and (c.workers or c.kind == "stateful_map"):
        return None  # no worker is there between two epochs; such rows remember the one left
    played = REFUSED[c.used].format(bogus=f"load_bogus {c.value}?")
    return c.play(played if c.used == "loaded" else f"{played} | load s, drain, drain")


@_fault(
    "after a refused part",
    bites=("workers", "no workers"),
    shape=((13, 2),),
    last=(-2, -1, -4),
    kind=("stateful_iterable", "map", "stateful_map"),
    tail=("keep",),
)
def _after_a_refused_part(c: Cell) -> Case | None:
    """Refuse a state for one of its last parts, when the parts before it were looked at."""
    if c.workers == 1:
        return None  # the loader looks at the parts of several lanes one after the other
    load = f"load_cut s {c.last}?"
    steps = f"take 5, save s | take 1, {load}, take 1, save t, drain, drain | load t, drain, drain"
    return c.play(steps)


# Faults.


@_fault(
    "killed worker",
    (True,),
    bites=("a lost worker",),
    needs=("samples",),
    shape=ONE,
    sample=(0, 6, 12),
    tail=("keep",),
)
def _killed_worker(c: Cell) -> Case:
    return c.play("drain", c.workload(1, die_at=c.sample))


@_fault(
    "failing sample",
    bites=("an error", "workers", "no workers"),
    needs=("samples",),
    shape=ONE,
    sample=(0, 6, 12),
    tail=("keep",),
)
def _failing_sample(c: Cell) -> Case:
    return c.play("drain", c.workload(1, fail_at=c.sample))


@_fault(
    "stop iteration", bites=("StopIteration", "workers", "no workers"), needs=("samples",),
    shape=ONE, sample=(0, 6, 12), then=(False, True), kind=("map",), tail=("keep",),
)  # fmt: skip
def _stop_iteration(c: Cell) -> Case:
    w = c.workload(1, stop_at=c.sample)
    return c.play("drain", dataclasses.replace(w, batch_size=0) if c.then else w)


@_fault(
    "left behind",
    (True,),
    bites=("workers",),
    shape=ONE,
    when=("mid", "end", "broken"),
    tail=("keep",),
)
def _left_behind(c: Cell) -> Case:
    steps = {"mid": "take 2", "end": "drain", "broken": "take 1, break, take 1"}[c.when]
    return c.play(f"{steps}, close")
