"""The basic families: basis, resume, epochs and state, on plain workloads (pure).

A family's name selects the judges of its traces, so one cause gives one failed requirement.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.families.family import CUTS, Cell, drains, family, load, save, take

__all__ = ["ONES", "ROLLED", "SHAPES", "SMALL", "USUAL"]

SHAPES = ((13, 4), (12, 3), (7, 1), (16, 4))
SMALL = ((0, 4), (1, 1), (1, 4))
USUAL = ((13, 4), (16, 4))
ONES = ((16, 1), (13, 1))
"""Sizes and batch sizes: six sizes at most, because shards on disk are prepared for each size."""

_basic = partial(family, section="basics")


# Basis.


@_basic("plain", quick=("kinds", "files", "drawn"), shape=(*SHAPES, *SMALL), tail=("keep", "drop"))
def _plain(c: Cell) -> Case:
    session = dataclasses.replace(c.session(0, *drains(2)), host="b")
    return c.case(c.workload(2), session)


@_basic(
    "whole", needs=("samples",), quick=("inline",), shape=(*SHAPES, *SMALL), tail=("keep", "drop")
)
def _whole(c: Cell) -> Case:
    return c.case(c.workload(2), c.session(0, *drains(2)))


@_basic("saving", quick=("kinds",), shape=SHAPES, where=("start", "mid", "end"))
def _saving(c: Cell) -> Case | None:
    if c.where == "start":
        steps = (save("a"), save("b"), *drains(2))
    elif c.where == "mid":
        steps = (take(1), save("a"), take(1), save("b"), save("c"), *drains(2))
    else:
        steps = (take(-1), save("a"), Step("drain"), save("b"), Step("drain"), save("c"))
    return c.case(c.workload(2), c.session(0, *steps))


# Resume.


@_basic(
    "cut",
    bites=("a tail", "a tail dropped", "a window beyond the end"),
    quick=("kinds", "files", "drawn"),
    shape=SHAPES,
    tail=("keep", "drop"),
    cut=CUTS,
)
def _cut(c: Cell) -> Case | None:
    if not 0 < c.at < c.length:
        return None
    first = c.session(0, take(c.at), save("s"))
    return c.case(c.workload(2), first, c.session(1, load("s"), *drains(2)))


@_basic("chain", quick=("kinds", "files", "drawn"), shape=ONES, links=(2, 3), tail=("keep",))
def _chain(c: Cell) -> Case | None:
    if 3 * c.links >= c.length:
        return None  # the chain would leave the epoch
    sessions = [c.session(0, take(3), save("s0"))]
    for i in range(1, c.links):
        sessions.append(c.session(i, load(f"s{i - 1}"), take(3), save(f"s{i}")))
    sessions.append(c.session(c.links, load(f"s{c.links - 1}"), *drains(2)))
    return c.case(c.workload(2), *sessions)


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
    first = c.session(0, take(5), save("s0"))
    second = c.session(1, load("s0"), *([take(c.soon)] if c.soon else []), save("s1"))
    return c.case(c.workload(2), first, second, c.session(2, load("s1"), *drains(1)))


@_basic("start", shape=SHAPES)
def _start(c: Cell) -> Case:
    first = c.session(0, save("s"))
    return c.case(c.workload(2), first, c.session(1, load("s"), *drains(2)))


@_basic("live", shape=USUAL, asked=(True, False), begun=(True, False), tail=("keep",))
def _live(c: Cell) -> Case | None:
    # An iterator of which nothing was asked yet is live as well: only asking it shows what it does.
    if not c.begun and (c.workers or not c.asked):
        return None
    first = c.session(0, take(1), save("s"))
    ask = [Step("take", 1, tolerate=True)] if c.asked else []
    steps = (take(2 if c.begun else 0), load("s"), *ask, Step("break"), *drains(2))
    return c.case(c.workload(2), first, c.session(1, *steps))


USED: dict[str, tuple[Step, ...]] = {
    "mid": (take(3), Step("break")),
    "later": (Step("drain"), take(1), Step("break")),
    "ended": drains(2),
    "ended, saved": drains(2),
}
"""How a loader is used before a state is loaded into it."""


@_basic(
    "used",
    bites=("a tail", "loaded after a broken epoch"),
    shape=USUAL,
    used=tuple(USED),
    tail=("keep",),
)
def _used(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    if c.used != "ended, saved":
        second = c.session(1, *USED[c.used], load("s"), *drains(2))
        return c.case(c.workload(2), first, second)
    # A fresh loader does the same first, so that only the use differs.
    fresh = (c.session(1, load("s"), save("t")), c.session(2, load("t"), *drains(1)))
    used = c.session(3, *USED[c.used], load("s"), save("u"))
    return c.case(c.workload(2), first, *fresh, used, c.session(4, load("u"), *drains(1)))


# Epochs.


@_basic(
    "end seen",
    bites=("a tail", "a tail dropped"),
    quick=("kinds", "files", "drawn"),
    shape=SHAPES,
    tail=("keep", "drop"),
    epoch=(0, 1),
)
def _end_seen(c: Cell) -> Case:
    first = c.session(0, *drains(c.epoch + 1), save("s"))
    return c.case(c.workload(3), first, c.session(1, load("s"), *drains(3 - c.epoch)))


@_basic(
    "end unseen",
    bites=("a tail", "a tail dropped"),
    quick=("kinds", "drawn"),
    shape=SHAPES,
    tail=("keep", "drop"),
    epoch=(0, 1),
)
def _end_unseen(c: Cell) -> Case:
    first = c.session(0, *drains(c.epoch), take(-1), save("s"))
    return c.case(c.workload(3), first, c.session(1, load("s"), *drains(3 - c.epoch)))


@_basic(
    "later",
    bites=("a tail", "a window beyond the end"),
    quick=("kinds", "files", "drawn"),
    shape=SHAPES,
    epoch=(1, 2),
    cut=CUTS,
)
def _later(c: Cell) -> Case | None:
    if not 0 < c.at < c.length:
        return None
    first = c.session(0, *drains(c.epoch), take(c.at), save("s"))
    return c.case(c.workload(3), first, c.session(1, load("s"), *drains(3 - c.epoch)))


@_basic("break", needs=("samples",), shape=SHAPES, times=(1, 2, 3))
def _break(c: Cell) -> Case | None:
    if c.length < 2:
        return None
    steps = (take(1), Step("break")) * c.times
    return c.case(c.workload(c.times + 2), c.session(0, *steps, *drains(2)))


LEFT_OVER = ((13, 4), (7, 4))
ROLLED: dict[str, tuple[tuple[Step, ...], ...]] = {
    "later": ((Step("drain"), take(1), save("a")), (load("a"), *drains(3))),
    "through": (drains(4),),
    "mid": ((take(1), save("a")), (load("a"), *drains(4))),
    "end seen": ((Step("drain"), save("a")), (load("a"), *drains(3))),
    "end unseen": ((Step("drain"), take(-1), save("a")), (load("a"), *drains(4))),
    "chain": (
        (Step("drain"), save("a")),
        (load("a"), Step("drain"), take(1), save("b")),
        (load("b"), *drains(2)),
    ),
}
"""Sessions with ``tail="rollover"``: most of their states hold samples that are carried over."""


@_basic(
    "rollover", needs=("samples",), quick=("drawn",),
    shape=LEFT_OVER, kind=("map", "stateful_map"), where=tuple(ROLLED),
    order=("", "random", "custom", "stateful"), tail=("rollover",),
)  # fmt: skip
def _rollover(c: Cell) -> Case | None:
    w = c.workload(4, sampler=c.order)
    if (c.shuffle and c.order) or (c.where == "mid" and usual_length(w, c.execution()) < 2):
        return None
    plans = [c.session(number, *steps) for number, steps in enumerate(ROLLED[c.where])]
    return c.case(w, *plans)


# State.

BEFORE: dict[str, tuple[Step, ...]] = {
    "start": (),
    "mid": (take(2),),
    "end": (Step("drain"),),
    "later": (Step("drain"), take(1)),
}
"""The deliveries before a state is taken."""


FRESH = ("fresh", "resumed", "at once")
"""The places at which a state is taken that is looked at later: in a fresh run, after a resume,
right after the load."""


@_basic("sealed late", bites=("encoded late",), shape=USUAL, where=FRESH, tail=("keep",))
def _sealed_late(c: Cell) -> Case:
    late = (take(1), *drains(2), Step("seal", state="s", into="late"))
    return _taken(c, (save("s"), *late), "late")


@_basic("edited after save", shape=USUAL, where=FRESH, tail=("keep",))
def _edited_after_save(c: Cell) -> Case:
    edited = (save("s"), Step("edit", state="s"))
    return _taken(c, (*edited, take(1), save("t"), Step("edit", state="t"), *drains(2)), "t")


def _taken(c: Cell, steps: tuple[Step, ...], loaded: str) -> Case:
    """Return the case that takes ``steps`` where the cell says, and then loads a state."""
    if c.where == "fresh":
        sessions = [c.session(0, take(2), *steps)]
    else:
        begun = () if c.where == "at once" else (take(1),)
        sessions = [c.session(0, take(1), save("a")), c.session(1, load("a"), *begun, *steps)]
    last = c.session(len(sessions), load(loaded), *drains(2))
    return c.case(c.workload(2), *sessions, last)


@_basic(
    "codec", shape=USUAL, codec=("pickle", "torch", "json", "bytes"),
    where=("mid", "start", "end", "later"), tail=("keep",),
)  # fmt: skip
def _codec(c: Cell) -> Case:
    first = c.session(0, *BEFORE[c.where], save("s", c.codec))
    return c.case(c.workload(3), first, c.session(1, load("s"), *drains(3)))


@_basic(
    "reload",
    bites=("fewer batches since the load than workers",),
    shape=USUAL,
    where=("start", "mid", "end", "later"),
    tail=("keep",),
)
def _reload(c: Cell) -> Case:
    first = c.session(0, *BEFORE[c.where], save("s0"))
    second = c.session(1, load("s0"), save("s1"))
    return c.case(c.workload(2), first, second, c.session(2, load("s1"), *drains(2)))


@_basic("edited after load", bites=("a state edited",), shape=USUAL, soon=(0, 1), tail=("keep",))
def _edited_after_load(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    begun = (take(1),) if c.soon else ()
    second = c.session(1, load("s"), *begun, Step("edit", state="s"), *drains(2))
    return c.case(c.workload(2), first, second)


@_basic("loaded by reference", shape=USUAL, where=("mid", "later"), tail=("keep",))
def _loaded_by_reference(c: Cell) -> Case:
    first = c.session(0, *BEFORE[c.where], save("s"))
    kept = Step("seal", state="s", into="late")
    second = c.session(1, load("s"), take(1), save("t"), *drains(2), kept)
    return c.case(c.workload(3), first, second)


@_basic(
    "tree", needs=("samples",), shape=USUAL, kind=("stateful_iterable",), tail=("keep",), cut=CUTS
)
def _tree(c: Cell) -> Case:
    first = c.session(0, take(c.at), save("s"))
    return c.case(c.workload(2, tree="plain"), first, c.session(1, load("s"), *drains(2)))
