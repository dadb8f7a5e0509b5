"""The families on unusual workloads, which break loaders that are right on plain ones (pure).

They do the same as the basic families, on the workloads of ``unusual.py``, and have the same
judges.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import AMBIENT_DRAWS, Workload
from midepoch_conformance.families.execution import WORKER_PAIRS
from midepoch_conformance.families.family import (
    CUTS,
    Cell,
    family,
    load,
    save,
    take,
)
from midepoch_conformance.families.family import (
    drain_steps as drains,
)
from midepoch_conformance.families.unusual import ASPECTS, named, workload

SHAPES = ((13, 2), (12, 3))
KINDS = ("stateful_iterable", "map", "iterable", "stateful_map")
RESUMED = named(*(aspect for aspect in ASPECTS if aspect != "tree"))
"""All workloads but the trees, which have a requirement of their own."""

_unusual = partial(family, section="unusual")


def _at(c: Cell, w: Workload, epoch: int = 0) -> int:
    """Return the cell's cut as a number of batches of an epoch; 0 if the epoch has no such cut."""
    length = usual_length(w, c.execution(), epoch)
    at = {"one": 1, "half": length // 2, "last": length - 1}[c.cut]
    return at if 0 < at < length else 0


@_unusual("work plain", shape=SHAPES, unusual=RESUMED, kind=KINDS, tail=("keep", "drop"))
def _plain(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    return c.case(w, dataclasses.replace(c.session(0, *drains(w.epochs)), host="b"))


@_unusual("work whole", shape=SHAPES, unusual=RESUMED, kind=KINDS)
def _whole(c: Cell) -> Case | None:
    w = workload(c)
    return c.case(w, c.session(0, *drains(w.epochs))) if w is not None and w.whole else None


@_unusual("work saving", shape=SHAPES, unusual=RESUMED, kind=KINDS, where=("start", "mid"))
def _saving(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    saves = (save("a"), save("b"))
    steps = saves if c.where == "start" else (take(1), *saves, take(1), save("c"))
    return c.case(w, c.session(0, *steps, *drains(w.epochs)))


@_unusual(
    "work cut",
    each=("stream", "epochs", "length"),
    shape=SHAPES,
    unusual=RESUMED,
    kind=KINDS,
    cut=CUTS,
)
def _cut(c: Cell) -> Case | None:
    w = workload(c)
    return None if w is None else _resumed(c, w)


def _resumed(c: Cell, w: Workload, codec: str = "") -> Case | None:
    at = _at(c, w)
    if not at:
        return None
    first = c.session(0, take(at), save("s", codec))
    return c.case(w, first, c.session(1, load("s"), *drains(w.epochs)))


@_unusual("work start", shape=SHAPES, unusual=RESUMED, kind=KINDS)
def _start(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    return c.case(w, c.session(0, save("s")), c.session(1, load("s"), *drains(w.epochs)))


@_unusual(
    "work chain",
    shape=((13, 2), (16, 2)),
    unusual=RESUMED,
    kind=KINDS,
    links=(2, 3),
)
def _chain(c: Cell) -> Case | None:
    w = workload(c)
    if w is None or usual_length(w, c.execution()) <= c.links + 1:
        return None
    sessions = [c.session(0, take(2), save("s0"))]
    for i in range(1, c.links):
        sessions.append(c.session(i, load(f"s{i - 1}"), take(1), save(f"s{i}")))
    last = c.session(c.links, load(f"s{c.links - 1}"), *drains(w.epochs))
    return c.case(w, *sessions, last)


LATER = tuple(name for name in RESUMED if name != "oneshot")
"""The workloads that have a second epoch."""


@_unusual(
    "work later",
    each=("sampler", "epochs", "length"),
    shape=SHAPES,
    unusual=LATER,
    kind=KINDS,
    epoch=(1, 2),
    cut=CUTS,
)
def _later(c: Cell) -> Case | None:
    w = workload(c, 3)
    at = 0 if w is None else _at(c, w, c.epoch)
    if w is None or not at:
        return None
    first = c.session(0, *drains(c.epoch), take(at), save("s"))
    return c.case(w, first, c.session(1, load("s"), *drains(3 - c.epoch)))


@_unusual(
    "work end seen", each=("epochs", "length"),
    shape=SHAPES, unusual=LATER, kind=KINDS, epoch=(0, 1),
)  # fmt: skip
def _end_seen(c: Cell) -> Case | None:
    w = workload(c, 3)
    if w is None:
        return None
    first = c.session(0, *drains(c.epoch + 1), save("s"))
    return c.case(w, first, c.session(1, load("s"), *drains(3 - c.epoch)))


OUTSIDE = named("epochs", "length")
"""The workloads of which the user sets something before each epoch.

Such a user would have to know what a loader makes of the rest of an epoch whose end was not seen:
an empty epoch or none. That is the loader's choice.
"""


@_unusual(
    "work end unseen",
    shape=SHAPES,
    unusual=tuple(name for name in LATER if name not in OUTSIDE),
    kind=KINDS,
    epoch=(0, 1),
)
def _end_unseen(c: Cell) -> Case | None:
    w = workload(c, 3)
    if w is None:
        return None
    first = c.session(0, *drains(c.epoch), take(-1), save("s"))
    return c.case(w, first, c.session(1, load("s"), *drains(3 - c.epoch)))


@_unusual("work break", shape=SHAPES, unusual=LATER, kind=KINDS, times=(1, 3), cut=("one", "last"))
def _break(c: Cell) -> Case | None:
    w = workload(c, c.times + 2)
    if w is None or not w.whole or w.grow:
        return None
    steps = (take(_at(c, w)), Step("break")) * c.times
    return c.case(w, c.session(0, *steps, *drains(2))) if _at(c, w) else None


@_unusual(
    "work used", each=("sampler", "epochs"),
    shape=SHAPES, unusual=LATER, kind=KINDS, where=("start", "mid"),
)  # fmt: skip
def _used(c: Cell) -> Case | None:
    w = workload(c, 3)
    if w is None:
        return None
    first = c.session(0, *(take(2),) * (c.where == "mid"), save("s"))
    used = (Step("drain"), take(2), Step("break"))
    return c.case(w, first, c.session(1, *used, load("s"), *drains(3)))


@_unusual(
    "work interval",
    shape=((13, 2), (16, 2)),
    unusual=RESUMED,
    kind=KINDS,
    interval=(3, 100),
    position=(1, 2, 4),
)
def _interval(c: Cell) -> Case | None:
    w = workload(c)
    if w is None or usual_length(w, c.execution()) <= c.position:
        return None
    first = c.session(0, take(c.position), save("s"))
    return c.case(w, first, c.session(1, load("s"), *drains(w.epochs)))


@_unusual("work tree", each=ASPECTS, shape=SHAPES, unusual=named("tree"), kind=KINDS, cut=CUTS)
def _tree(c: Cell) -> Case | None:
    w = workload(c)
    return None if w is None else _resumed(c, w)


@_unusual(
    "work codec",
    shape=SHAPES,
    unusual=(*named("tree", "private"), "buffer"),
    kind=KINDS,
    codec=("torch", "json", "bytes"),
    cut=("half",),
)
def _codec(c: Cell) -> Case | None:
    w = workload(c)
    return None if w is None else _resumed(c, w, c.codec)


@_unusual(
    "work values",
    shape=SHAPES,
    unusual=named("stream", "iterator", "history"),
    kind=("stateful_iterable", "stateful_map"),
    draw=AMBIENT_DRAWS,
    cut=("half",),
)
def _values(c: Cell) -> Case | None:
    w = workload(c, draws=(c.draw,))
    return None if w is None else _resumed(c, w)


@_unusual(
    "work workers",
    (True,),
    needs=("fixed plan",),
    shape=SHAPES,
    unusual=RESUMED,
    kind=KINDS,
    pair=WORKER_PAIRS,
)
def _workers(c: Cell) -> Case | None:
    # One epoch: a lane's dataset lives as long as its worker, and so does its history.
    w = workload(c, 1)
    if w is None:
        return None
    before, after = c.pair
    lanes = before or after
    base = c.session(0, workers=before, lanes=lanes)
    changed = c.session(1, *drains(1), workers=after, lanes=lanes)
    return c.case(w, base, dataclasses.replace(changed, ambient=base.ambient))


@_unusual(
    "work left early",
    (True,),
    needs=("fixed plan",),
    shape=((8, 2),),
    unusual=("stateful", "private python"),
    kind=("map", "stateful_iterable"),
    cut=("last", "one"),
    pair=tuple(pair for pair in WORKER_PAIRS if 0 in pair),
)
def _left_early(c: Cell) -> Case | None:
    # The two runs are compared with each other: no uninterrupted run leaves an epoch.
    w = workload(c, 0)
    if w is None or not (at := _at(c, w)):
        return None
    before, after = c.pair
    steps = (take(at), Step("break"), *drains(2))

    def under(number: int, workers: int) -> SessionPlan:
        if c.kind == "map":
            return c.session(number, *steps, workers=workers)
        # A Stateful dataset lives for the run without workers, and with those that persist.
        lasting = {"lanes": before or after, "persistent": workers > 0}
        return c.session(number, *steps, workers=workers, **lasting)

    base, changed = under(0, before), under(1, after)
    return c.case(w, base, dataclasses.replace(changed, ambient=base.ambient))


@_unusual(
    "work left and saved",
    (False,),
    shape=((9, 2),),
    unusual=("buffer", "on both", "history", "private numpy", "random", "stateful"),
    kind=KINDS,
    where=("begun", "untouched"),
)
def _left_and_saved(c: Cell) -> Case | None:
    # Such data remember the epoch that was left: only the run that saved shows what follows.
    w = workload(c, 0)
    if w is None:
        return None
    steps = (take(2), Step("break"), take(int(c.where == "begun")), save("s"), *drains(2))
    return c.case(w, c.session(0, *steps), c.session(1, load("s"), *drains(2)))


@_unusual(
    "work execution",
    (True,),
    shape=((13, 2),),
    unusual=("distributed", "less samples"),
    kind=("map",),
)
def _execution(c: Cell) -> Case | None:
    w = workload(c, 3)
    if w is None or c.persistent or not (w.shuffle or w.grow):
        return None  # each epoch is like the one before
    base = c.session(0)
    lasting = c.session(1, *drains(3), persistent=True)
    return c.case(w, base, dataclasses.replace(lasting, ambient=base.ambient))


@_unusual(
    "work elastic",
    (True,),
    needs=("fixed plan",),
    shape=SHAPES,
    unusual=RESUMED,
    kind=KINDS,
    pair=WORKER_PAIRS,
)
def _elastic(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    before, after = c.pair
    lanes = before or after
    at = usual_length(w, c.execution(workers=before, lanes=lanes)) // 2
    first = c.session(0, take(at), save("s"), workers=before, lanes=lanes)
    second = c.session(1, load("s"), *drains(w.epochs), workers=after, lanes=lanes)
    return c.case(w, first, second)


@_unusual(
    "work sealed late",
    shape=SHAPES,
    unusual=("mutated", "buffer", "on the iterator", "history", "stateful"),
    kind=KINDS,
)
def _sealed_late(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    # A dataset that always hands out the same object changes it when it is asked again.
    steps = (take(2), save("s"), take(1), save("t"), *drains(2))
    seal = Step("seal", state="s", into="late")
    return c.case(w, c.session(0, *steps, seal), c.session(1, load("late"), *drains(2)))


# A state's mutable parts: those of samplers, of generators and of datasets.
MUTABLE = named("sampler", "private", "tree", "stream", "iterator", "history")


@_unusual("work edited after save", each=("sampler",), shape=SHAPES, unusual=MUTABLE, kind=KINDS)
def _edited_after_save(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    first = c.session(0, take(2), save("s"), Step("edit", state="s"), *drains(2))
    return c.case(w, first, c.session(1, load("s"), *drains(2)))


@_unusual(
    "work edited after load", each=("sampler",),
    shape=SHAPES, unusual=MUTABLE, kind=KINDS, soon=(0, 1),
)  # fmt: skip
def _edited_after_load(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    begun = (take(1),) if c.soon else ()
    edited = (load("s"), *begun, Step("edit", state="s"), save("t"), *drains(2))
    second = c.session(1, *edited)
    return c.case(w, c.session(0, take(2), save("s")), second, c.session(2, load("t"), *drains(2)))


@_unusual("work by reference", each=("sampler",), shape=SHAPES, unusual=MUTABLE, kind=KINDS)
def _by_reference(c: Cell) -> Case | None:
    w = workload(c)
    if w is None:
        return None
    kept = Step("seal", state="s", into="late")
    second = c.session(1, load("s"), take(1), save("t"), *drains(2), kept)
    return c.case(w, c.session(0, take(2), save("s")), second)


@_unusual(
    "work refused", needs=("samples",), each=("sampler", "epochs"),
    shape=((13, 3),), unusual=RESUMED, kind=KINDS, begun=(True, False), later=(True, False),
)  # fmt: skip
def _refused(c: Cell) -> Case | None:
    """Refuse a state of another batch size; then go on, save, and resume."""
    w = workload(c, 3)
    if w is None:
        return None
    if c.unusual == "distributed" and not (c.shuffle and c.later and not c.begun):
        return None  # each epoch is like the one before, or has its order already
    other = (("batch_size", 2),)
    first = c.session(0, *drains(int(c.later)), take(2), save("s"), workload=other)
    refused = Step("load", state="s", tolerate=True)
    second = c.session(1, *(take(1),) * c.begun, refused, take(1), save("t"), *drains(2))
    return c.case(w, first, second, c.session(2, load("t"), *drains(2)))


UNEVEN = ((16, 2), (13, 2))


@_unusual("uneven plain", (True,), needs=("samples",), shape=UNEVEN, kind=KINDS)
def _uneven_plain(c: Cell) -> Case | None:
    w = _gated(c)
    if w is None:
        return None
    return c.case(w, dataclasses.replace(c.session(0, *drains(2)), host="b"))


@_unusual("uneven", (True,), needs=("samples",), shape=UNEVEN, kind=KINDS, position=(1, 3))
def _uneven(c: Cell) -> Case | None:
    w = _gated(c)
    if w is None:
        return None
    first = c.session(0, take(c.position), save("s"))
    second = c.session(1, load("s"), *drains(2), workload=(("gate", None),))
    return c.case(w, first, second)


def _gated(c: Cell) -> Workload | None:
    """Return a workload whose first worker waits until the second has begun its second batch."""
    workers, (n, size) = c.workers, c.shape
    if workers < 2 or c.shuffle:
        return None
    if c.kind in ("map", "stateful_map"):
        samples = range(n)[size * (workers + 1) :]
    else:
        samples = range(n)[1::workers][size:]
    return c.workload(2, gate=(0, samples[0]), log="auto") if samples else None
