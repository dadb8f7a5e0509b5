"""States of unusual workloads at each place of an epoch, and in each codec (pure)."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import AMBIENT_DRAWS, Workload
from midepoch_conformance.families.family import CUTS, Cell, chained, drains
from midepoch_conformance.families.unusual.aspects import ASPECTS, named
from midepoch_conformance.families.unusual.family import RESUMED, at_cut, unusual


@unusual("work plain", bites=("a user's sampler", "workers", "no workers"), tail=("keep", "drop"))
def _plain(c: Cell, w: Workload) -> Case:
    return c.play(f"[host=b] {drains(w.epochs)}", w)


@unusual("work whole", bites=("shuffled", "workers"), each=("length",))
def _whole(c: Cell, w: Workload) -> Case | None:
    return c.play(drains(w.epochs), w) if w.whole else None


SAVING = {"start": "save a, save b", "mid": "take 1, save a, save b, take 1, save c"}
"""How an uninterrupted run begins that takes states."""


@unusual("work saving", bites=("a user's sampler", "workers"), where=tuple(SAVING))
def _saving(c: Cell, w: Workload) -> Case:
    return c.play(f"{SAVING[c.where]}, {drains(w.epochs)}", w)


@unusual(
    "work cut",
    bites=("draws", "a window beyond the end", "a replay from the beginning"),
    each=("stream", "epochs", "length"),
    cut=CUTS,
)
def _cut(c: Cell, w: Workload) -> Case | None:
    at = at_cut(c, w)
    return c.play(f"take {at}, save s | load s, {drains(w.epochs)}", w) if at else None


@unusual("work start", bites=("a user's sampler", "a full window"))
def _start(c: Cell, w: Workload) -> Case:
    return c.play(f"save s | load s, {drains(w.epochs)}", w)


@unusual(
    "work chain",
    bites=("saved again", "a full window", "a replay from the beginning"),
    shape=((13, 2), (16, 2)),
    links=(2, 3),
)
def _chain(c: Cell, w: Workload) -> Case | None:
    if usual_length(w, c.execution()) <= c.links + 1:
        return None
    return c.play(chained("take 2", *["take 1"] * (c.links - 1), drains(w.epochs)), w)


LATER = tuple(name for name in RESUMED if name != "oneshot")
"""The workloads that have a second epoch."""


@unusual(
    "work later",
    bites=("a later epoch", "a full window"),
    epochs=3,
    each=("sampler", "epochs", "length"),
    unusual=LATER,
    epoch=(1, 2),
    cut=CUTS,
)
def _later(c: Cell, w: Workload) -> Case | None:
    at, before, after = at_cut(c, w, c.epoch), drains(c.epoch), drains(3 - c.epoch)
    return c.play(f"{before}, take {at}, save s | load s, {after}", w) if at else None


@unusual(
    "work end seen",
    bites=("a user's sampler", "a full window"),
    epochs=3,
    each=("epochs", "length", "itself"),
    unusual=(*LATER, "oneshot"),
    epoch=(0, 1),
)
def _end_seen(c: Cell, w: Workload) -> Case | None:
    if c.unusual == "oneshot":  # one that has a state knows that it has ended
        if c.kind != "stateful_iterable" or c.workers or c.epoch:
            return None
        w = dataclasses.replace(w, epochs=2)
    return c.play(f"{drains(c.epoch + 1)}, save s | load s, {drains(3 - c.epoch)}", w)


OUTSIDE = named("epochs", "length", "set")
"""The workloads of which the user sets something before each epoch.

Such a user would have to know what a loader makes of the rest of an epoch whose end was not seen:
an empty epoch or none. That is the loader's choice.
"""


@unusual(
    "work end unseen",
    bites=("persistent workers", "a replay from the beginning"),
    epochs=3,
    unusual=tuple(name for name in LATER if name not in OUTSIDE),
    epoch=(0, 1),
)
def _end_unseen(c: Cell, w: Workload) -> Case:
    return c.play(f"{drains(c.epoch)}, take all, save s | load s, {drains(3 - c.epoch)}", w)


@unusual(
    "work break",
    bites=("an epoch broken off", "workers"),
    unusual=LATER,
    times=(1, 3),
    cut=("one", "last"),
)
def _break(c: Cell, w: Workload) -> Case | None:
    at = at_cut(c, w)
    if not w.whole or w.grow or not at:
        return None
    w = dataclasses.replace(w, epochs=c.times + 2)
    return c.play(f"take {at}, break, " * c.times + "drain, drain", w)


@unusual(
    "work used",
    bites=("loaded after a broken epoch", "a full window"),
    epochs=3,
    each=("sampler", "epochs"),
    unusual=LATER,
    where=("start", "mid"),
)
def _used(c: Cell, w: Workload) -> Case:
    taken = "take 2, " if c.where == "mid" else ""
    return c.play(f"{taken}save s | drain, take 2, break, load s, drain, drain, drain", w)


@unusual(
    "work interval",
    bites=("off the interval", "an interval longer than the epoch"),
    shape=((13, 2), (16, 2)),
    interval=(3, 100),
    position=(1, 2, 4),
)
def _interval(c: Cell, w: Workload) -> Case | None:
    if usual_length(w, c.execution()) <= c.position:
        return None
    return c.play(f"take {c.position}, save s | load s, {drains(w.epochs)}", w)


@unusual(
    "work tree in place",
    (False,),
    bites=("off the interval",),
    unusual=("mutated",),
    shape=((13, 2),),
    position=(4, 2),
)
def _tree_in_place(c: Cell, w: Workload) -> Case:
    """Resume from a snapshot whose dataset goes on changing what it handed out."""
    steps = f"take {c.position}, save s | load s, {drains(w.epochs)}"
    return c.play(steps, w, interval=3)


unusual(
    "work tree", bites=("a later epoch", "workers"), each=ASPECTS, unusual=named("tree"), cut=CUTS
)(_cut)


@unusual(
    "work codec",
    bites=("draws", "a replay from the beginning"),
    unusual=(*named("tree", "private"), "buffer"),
    codec=("torch", "json", "bytes"),
    cut=("half",),
)
def _codec(c: Cell, w: Workload) -> Case | None:
    at = at_cut(c, w)
    saved = f"take {at}, save s codec={c.codec}"
    return c.play(f"{saved} | load s, {drains(w.epochs)}", w) if at else None


@unusual(
    "work values",
    bites=("draws", "workers", "no workers"),
    each=("collating",),
    unusual=named("stream", "iterator", "history", "collating"),
    kind=("stateful_iterable", "stateful_map", "map", "iterable"),
    draw=AMBIENT_DRAWS,
    cut=("half",),
)
def _values(c: Cell, w: Workload) -> Case | None:
    if not (w.collated or w.kind.startswith("stateful")):
        return None  # other families have such draws
    return _cut(c, dataclasses.replace(w, draws=(c.draw,)))
