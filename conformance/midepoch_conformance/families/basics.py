"""The basic families: basis, resume, epochs and state, on plain workloads (pure).

A family's name selects the judges of its traces, so one cause gives one failed requirement.
"""

from __future__ import annotations

from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.families.family import CUTS, Cell, chained, drains, family

__all__ = ["ONES", "ROLLED", "SHAPES", "SMALL", "USUAL"]

SHAPES = ((13, 4), (12, 3), (7, 1), (16, 4))
SMALL = ((0, 4), (1, 1), (1, 4))
USUAL = ((13, 4), (16, 4))
ONES = ((16, 1), (13, 1))
"""Sizes and batch sizes: six sizes at most, because loaders that read files prepare each size."""

FAR = 65_550
"""More batches than sixteen bits count."""

_LATER = tuple(f"a shuffled epoch after the resumed one, {w}" for w in ("workers", "no workers"))
"""The facts without which a family shows no later epoch of a shuffled order."""

_basic = partial(family, section="basics")


# Basis.


@_basic(
    "plain",
    bites=(
        "a tail",
        "a tail dropped",
        "less than a batch",
        "an empty dataset",
        "persistent workers",
        "several epochs",
    ),
    quick=("kinds", "drawn"),
    shape=(*SHAPES, *SMALL),
    tail=("keep", "drop"),
)
def _plain(c: Cell) -> Case:
    return c.play("[host=b] drain, drain")


@_basic(
    "whole",
    bites=("a tail", "a tail dropped", "less than a batch", "an empty dataset"),
    needs=("samples",),
    quick=("inline",),
    shape=(*SHAPES, *SMALL),
    tail=("keep", "drop"),
)
def _whole(c: Cell) -> Case:
    return c.play("drain, drain")


SAVING = {
    "start": "save a, save b, drain, drain",
    "mid": "take 1, save a, take 1, save b, save c, drain, drain",
    "end": "take all, save a, drain, save b, drain, save c",
}
"""The uninterrupted runs that take states."""


@_basic(
    "saving",
    bites=("a tail", "shuffled", "workers", "no workers"),
    quick=("kinds",),
    shape=SHAPES,
    where=tuple(SAVING),
)
def _saving(c: Cell) -> Case:
    return c.play(SAVING[c.where])


# Resume.


@_basic(
    "cut",
    bites=("a tail", "a tail dropped", "a window beyond the end", *_LATER),
    quick=("kinds", "drawn"),
    shape=SHAPES,
    tail=("keep", "drop"),
    cut=CUTS,
)
def _cut(c: Cell) -> Case | None:
    if not 0 < c.at < c.length:
        return None
    return c.play(f"take {c.at}, save s | load s, drain, drain")


@_basic(
    "chain",
    bites=("a full window", "a replay from the beginning", "saved again"),
    quick=("kinds", "drawn"),
    shape=ONES,
    links=(2, 3),
    tail=("keep",),
)
def _chain(c: Cell) -> Case | None:
    if 3 * c.links >= c.length:
        return None  # the chain would leave the epoch
    return c.play(chained(*["take 3"] * c.links, "drain, drain"))


@_basic(
    "resave",
    bites=("fewer batches since the load than workers",),
    quick=("kinds", "drawn"),
    shape=ONES,
    soon=(0, 1, 2),
    tail=("keep",),
)
def _resave(c: Cell) -> Case | None:
    if c.soon >= max(1, c.workers or 0) or 5 + c.soon >= c.length:
        return None
    again = f"take {c.soon}, " if c.soon else ""
    return c.play(f"take 5, save s0 | load s0, {again}save s1 | load s1, drain")


@_basic("start", bites=("a tail", "workers", "several epochs"), shape=SHAPES)
def _start(c: Cell) -> Case:
    return c.play("save s | load s, drain, drain")


@_basic(
    "live",
    bites=("a tail", "an epoch broken off", "workers"),
    shape=USUAL,
    asked=(True, False),
    begun=(True, False),
    tail=("keep",),
)
def _live(c: Cell) -> Case | None:
    # An iterator of which nothing was asked yet is live as well: only asking it shows what it does.
    if not c.begun and (c.workers or not c.asked):
        return None
    begun, ask = 2 if c.begun else 0, "take 1?, " if c.asked else ""
    return c.play(f"take 1, save s | take {begun}, load s, {ask}break, drain, drain")


USED = {"mid": "take 3, break", "later": "drain, take 1, break", "ended": "drain, drain"}
"""How a loader is used before a state is loaded into it."""


@_basic(
    "used",
    bites=("a tail", "loaded after a broken epoch"),
    shape=USUAL,
    used=(*USED, "ended, saved"),
    tail=("keep",),
)
def _used(c: Cell) -> Case:
    if c.used != "ended, saved":
        return c.play(f"take 2, save s | {USED[c.used]}, load s, drain, drain")
    # A fresh loader does the same first, so that only the use differs.
    fresh = "load s, save t | load t, drain"
    return c.play(f"take 2, save s | {fresh} | drain, drain, load s, save u | load u, drain")


# Epochs.


@_basic(
    "end seen",
    bites=("a tail", "a tail dropped", *_LATER),
    quick=("kinds", "drawn"),
    shape=SHAPES,
    tail=("keep", "drop"),
    epoch=(0, 1),
)
def _end_seen(c: Cell) -> Case:
    before, after = drains(c.epoch + 1), drains(3 - c.epoch)
    return c.play(f"{before}, save s | load s, {after}", c.workload(3))


@_basic(
    "end unseen",
    bites=("a tail", "a tail dropped", *_LATER),
    quick=("drawn",),
    shape=SHAPES,
    tail=("keep", "drop"),
    epoch=(0, 1),
)
def _end_unseen(c: Cell) -> Case:
    before, after = drains(c.epoch), drains(3 - c.epoch)
    return c.play(f"{before}, take all, save s | load s, {after}", c.workload(3))


@_basic(
    "later",
    bites=("a tail", "a window beyond the end", *_LATER),
    quick=("kinds", "drawn"),
    shape=SHAPES,
    epoch=(1, 2),
    cut=CUTS,
)
def _later(c: Cell) -> Case | None:
    if not 0 < c.at < c.length:
        return None
    before, after = drains(c.epoch), drains(3 - c.epoch)
    return c.play(f"{before}, take {c.at}, save s | load s, {after}", c.workload(3))


@_basic(
    "break",
    bites=("an epoch broken off", "several epochs", "workers"),
    needs=("samples",),
    shape=SHAPES,
    times=(1, 2, 3),
)
def _break(c: Cell) -> Case | None:
    if c.length < 2:
        return None
    return c.play("take 1, break, " * c.times + "drain, drain", c.workload(c.times + 2))


LEFT_OVER = ((13, 4), (7, 4))
ROLLED = {
    "later": "drain, take 1, save a | load a, drain, drain, drain",
    "through": "drain, drain, drain, drain",
    "mid": "take 1, save a | load a, drain, drain, drain, drain",
    "end seen": "drain, save a | load a, drain, drain, drain",
    "end unseen": "drain, take all, save a | load a, drain, drain, drain, drain",
    "chain": "drain, save a | load a, drain, take 1, save b | load b, drain, drain",
}
"""Sessions with ``tail="rollover"``: most of their states hold samples that are carried over."""


@_basic(
    "rollover", bites=("a carried rest", "workers"), needs=("samples",), quick=("drawn",),
    shape=LEFT_OVER, kind=("map", "stateful_map"), where=tuple(ROLLED),
    order=("", "random", "custom", "stateful"), tail=("rollover",),
)  # fmt: skip
def _rollover(c: Cell) -> Case | None:
    w = c.workload(4, sampler=c.order)
    if (c.shuffle and c.order) or (c.where == "mid" and usual_length(w, c.execution()) < 2):
        return None
    return c.play(ROLLED[c.where], w)


# State.

BEFORE = {"start": "", "mid": "take 2", "end": "drain", "later": "drain, take 1"}
"""The deliveries before a state is taken."""

FRESH = {
    "fresh": "take 2",
    "resumed": "take 1, save a | load a, take 1",
    "at once": "take 1, save a | load a",
}
"""What precedes a state that is looked at later: a fresh run, a resume, or just the load."""


@_basic("sealed late", bites=("encoded late",), shape=USUAL, where=tuple(FRESH), tail=("keep",))
def _sealed_late(c: Cell) -> Case:
    late = "save s, take 1, drain, drain, seal s late"
    return c.play(f"{FRESH[c.where]}, {late} | load late, drain, drain")


@_basic(
    "edited after save",
    bites=("a state edited", "fewer batches left than workers"),
    shape=USUAL,
    where=tuple(FRESH),
    soon=(0, 1),
    tail=("keep",),
)
def _edited_after_save(c: Cell) -> Case:
    moved = "" if c.soon else "take 1, "
    edited = f"save s, edit s, {moved}save t, edit t, drain, drain"
    return c.play(f"{FRESH[c.where]}, {edited} | load t, drain, drain")


@_basic(
    "codec",
    bites=("a tail", "workers", "several epochs"),
    shape=USUAL,
    codec=("pickle", "torch", "json", "bytes"),
    where=("mid", "start", "end", "later"),
    tail=("keep",),
)
def _codec(c: Cell) -> Case:
    saved = f"{BEFORE[c.where]}, save s codec={c.codec}"
    return c.play(f"{saved} | load s, drain, drain, drain", c.workload(3))


@_basic(
    "reload",
    bites=("fewer batches since the load than workers",),
    shape=USUAL,
    where=tuple(BEFORE),
    tail=("keep",),
)
def _reload(c: Cell) -> Case:
    return c.play(f"{BEFORE[c.where]}, save s0 | load s0, save s1 | load s1, drain, drain")


@_basic("edited after load", bites=("a state edited",), shape=USUAL, soon=(0, 1), tail=("keep",))
def _edited_after_load(c: Cell) -> Case:
    begun = "take 1, " if c.soon else ""
    return c.play(f"take 2, save s | load s, {begun}edit s, drain, drain")


@_basic(
    "loaded by reference",
    bites=("saved again", "workers"),
    shape=USUAL,
    where=("mid", "later"),
    tail=("keep",),
)
def _loaded_by_reference(c: Cell) -> Case:
    loaded = "load s, take 1, save t, drain, drain, seal s late"
    return c.play(f"{BEFORE[c.where]}, save s | {loaded}", c.workload(3))


@_basic(
    "tree",
    bites=("a tail", "workers", "no workers"),
    needs=("samples",),
    shape=USUAL,
    kind=("stateful_iterable",),
    tail=("keep",),
    cut=CUTS,
)
def _tree(c: Cell) -> Case:
    return c.play(f"take {c.at}, save s | load s, drain, drain", c.workload(2, tree="plain"))


# Extremes.


@family(
    "many batches",
    bites=("an end",),
    quick=("left out",),
    section="extremes",
    shape=((FAR + 8, 1),),
    kind=("map",),
    tail=("keep",),
)
def _many_batches(c: Cell) -> Case | None:
    if c.shuffle or c.workers:
        return None  # the count of batches is the same
    return c.play(f"take {FAR}, save s | load s, drain", c.workload(1))


@family(
    "wrapped sampler",
    bites=("a user's sampler", "several epochs"),
    quick=("inline",),
    section="extremes",
    shape=((13, 2),),
    kind=("map",),
    cut=CUTS[:2],
    tail=("keep",),
)
def _wrapped_sampler(c: Cell) -> Case | None:
    if c.shuffle:
        return None  # a sampler takes the place of the loader's own order
    w = c.workload(3, sampler="wrapped")
    return c.play(f"drain, take {c.at}, save s | load s, drain, drain", w)


# Here nothing was delivered that a loader could find to be another batch.
@family(
    "wrapped sampler ended",
    bites=("a user's sampler", "several epochs"),
    quick=("inline",),
    section="extremes",
    shape=((13, 2),),
    kind=("map",),
    tail=("keep",),
)
def _wrapped_sampler_ended(c: Cell) -> Case | None:
    if c.shuffle:
        return None  # as above
    return c.play("drain, save s | load s, drain, drain", c.workload(3, sampler="wrapped"))
