"""The families on unusual workloads, which break loaders that are right on plain ones (pure).

They do the same as the basic families, on the workloads of ``unusual.py``, and have the same
judges.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import AMBIENT_DRAWS, Workload
from midepoch_conformance.families.execution import WORKER_PAIRS
from midepoch_conformance.families.family import CUTS, LANED, Cell, chained, drains, family
from midepoch_conformance.families.faults.outages import INTERRUPTED
from midepoch_conformance.families.unusual import ASPECTS, named, workload

SHAPES = ((13, 2), (12, 3))
KINDS = ("stateful_iterable", "map", "iterable", "stateful_map")
RESUMED = named(*(aspect for aspect in ASPECTS if aspect != "tree"))
"""All workloads but the trees, which have a requirement of their own."""


_Build = Callable[[Cell, Workload], "Case | None"]


def _unusual(
    name: str, workers: tuple[bool, ...] = (False, True), epochs: int = 2, **facts: Any
) -> Callable[[_Build], _Build]:
    """Register a family on unusual workloads, with the usual axes beside its own.

    Its builder also gets the workload, of so many epochs; a cell that has none makes no case.
    """
    usual = {"shape": SHAPES, "unusual": RESUMED, "kind": KINDS}

    def register(build: _Build) -> _Build:
        def build_on_workload(c: Cell) -> Case | None:
            w = workload(c, epochs)
            return None if w is None else build(c, w)

        family(name, workers, section="unusual", **(usual | facts))(build_on_workload)
        return build

    return register


def _at(c: Cell, w: Workload, epoch: int = 0) -> int:
    """Return the cell's cut as a number of batches of an epoch; 0 if the epoch has no such cut."""
    length = usual_length(w, c.execution(), epoch)
    at = {"one": 1, "half": length // 2, "last": length - 1}[c.cut]
    return at if 0 < at < length else 0


@_unusual("work plain", bites=("a user's sampler", "workers", "no workers"), tail=("keep", "drop"))
def _plain(c: Cell, w: Workload) -> Case:
    return c.play(f"[host=b] {drains(w.epochs)}", w)


@_unusual("work whole", bites=("shuffled", "workers"), each=("length",))
def _whole(c: Cell, w: Workload) -> Case | None:
    return c.play(drains(w.epochs), w) if w.whole else None


SAVING = {"start": "save a, save b", "mid": "take 1, save a, save b, take 1, save c"}
"""How an uninterrupted run begins that takes states."""


@_unusual("work saving", bites=("a user's sampler", "workers"), where=tuple(SAVING))
def _saving(c: Cell, w: Workload) -> Case:
    return c.play(f"{SAVING[c.where]}, {drains(w.epochs)}", w)


@_unusual(
    "work cut",
    bites=("draws", "a window beyond the end", "a replay from the beginning"),
    each=("stream", "epochs", "length"),
    cut=CUTS,
)
def _cut(c: Cell, w: Workload) -> Case | None:
    at = _at(c, w)
    return c.play(f"take {at}, save s | load s, {drains(w.epochs)}", w) if at else None


@_unusual("work start", bites=("a user's sampler", "a full window"))
def _start(c: Cell, w: Workload) -> Case:
    return c.play(f"save s | load s, {drains(w.epochs)}", w)


@_unusual(
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


@_unusual(
    "work later",
    bites=("a later epoch", "a full window"),
    epochs=3,
    each=("sampler", "epochs", "length"),
    unusual=LATER,
    epoch=(1, 2),
    cut=CUTS,
)
def _later(c: Cell, w: Workload) -> Case | None:
    at, before, after = _at(c, w, c.epoch), drains(c.epoch), drains(3 - c.epoch)
    return c.play(f"{before}, take {at}, save s | load s, {after}", w) if at else None


@_unusual(
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


OUTSIDE = named("epochs", "length")
"""The workloads of which the user sets something before each epoch.

Such a user would have to know what a loader makes of the rest of an epoch whose end was not seen:
an empty epoch or none. That is the loader's choice.
"""


@_unusual(
    "work end unseen",
    bites=("persistent workers", "a replay from the beginning"),
    epochs=3,
    unusual=tuple(name for name in LATER if name not in OUTSIDE),
    epoch=(0, 1),
)
def _end_unseen(c: Cell, w: Workload) -> Case:
    return c.play(f"{drains(c.epoch)}, take all, save s | load s, {drains(3 - c.epoch)}", w)


@_unusual(
    "work break",
    bites=("an epoch broken off", "workers"),
    unusual=LATER,
    times=(1, 3),
    cut=("one", "last"),
)
def _break(c: Cell, w: Workload) -> Case | None:
    at = _at(c, w)
    if not w.whole or w.grow or not at:
        return None
    w = dataclasses.replace(w, epochs=c.times + 2)
    return c.play(f"take {at}, break, " * c.times + "drain, drain", w)


@_unusual(
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


@_unusual(
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


_unusual(
    "work tree", bites=("a later epoch", "workers"), each=ASPECTS, unusual=named("tree"), cut=CUTS
)(_cut)


@_unusual(
    "work codec",
    bites=("draws", "a replay from the beginning"),
    unusual=(*named("tree", "private"), "buffer"),
    codec=("torch", "json", "bytes"),
    cut=("half",),
)
def _codec(c: Cell, w: Workload) -> Case | None:
    at = _at(c, w)
    saved = f"take {at}, save s codec={c.codec}"
    return c.play(f"{saved} | load s, {drains(w.epochs)}", w) if at else None


@_unusual(
    "work values",
    bites=("draws", "workers", "no workers"),
    unusual=named("stream", "iterator", "history"),
    kind=("stateful_iterable", "stateful_map"),
    draw=AMBIENT_DRAWS,
    cut=("half",),
)
def _values(c: Cell, w: Workload) -> Case | None:
    return _cut(c, dataclasses.replace(w, draws=(c.draw,)))


# One epoch: a lane's dataset lives as long as its worker, and so does its history.
@_unusual(
    "work workers",
    (True,),
    bites=("more lanes than workers",),
    epochs=1,
    needs=("fixed plan",),
    pair=WORKER_PAIRS,
)
def _workers(c: Cell, w: Workload) -> Case:
    before, after = c.pair
    sessions = f"| [workers={after} ambient=1] drain"
    return c.play(sessions, w, workers=before, lanes=before or after)


# The two runs are compared with each other: no uninterrupted run leaves an epoch.
@_unusual(
    "work left early",
    (True,),
    bites=("an epoch broken off", "draws", "persistent workers"),
    epochs=0,
    needs=("fixed plan",),
    shape=((8, 2),),
    unusual=("stateful", "private python"),
    kind=("map", "stateful_iterable"),
    cut=("last", "one"),
    pair=tuple(pair for pair in WORKER_PAIRS if 0 in pair),
)
def _left_early(c: Cell, w: Workload) -> Case | None:
    before, after = c.pair
    at, laned = _at(c, w), c.kind != "map"

    def under(workers: int) -> str:
        # A Stateful dataset lives for the run without workers, and with those that persist.
        lasting = f" persistent={'true' if workers else 'false'}" if laned else ""
        return f"workers={workers}{lasting}"

    steps = f"take {at}, break, drain, drain"
    sessions = f"[{under(before)}] {steps} | [{under(after)} ambient=1] {steps}"
    return c.play(sessions, w, lanes=(before or after) if laned else None) if at else None


@family(
    "set and left",
    (True,),
    bites=("an epoch broken off", "a user's sampler", "persistent workers"),
    section="users",
    needs=("fixed plan",),
    shape=((12, 2),),
    kind=("stateful_map",),
    pair=tuple(pair for pair in WORKER_PAIRS if 0 in pair),
    tail=("keep",),
)
def _set_and_left(c: Cell) -> Case | None:
    """Leave an epoch of a sampler whose next epoch the user sets then."""
    if c.shuffle:
        return None  # a sampler takes the place of the loader's own order
    before, after = c.pair
    steps = "take 2, break, drain, drain"
    sessions = " | ".join(
        f"[workers={n} persistent={'true' if n else 'false'} ambient=1] {steps}" for n in c.pair
    )
    return c.play(sessions, c.workload(0, sampler="prepared"), lanes=before or after)


LEFT = {
    "begun": "take 1",
    "untouched": "take 0",
    "again": "take 1, break, take 0",
    "again begun": "take 1, break, take 1",
}
"""The steps between an epoch that is left and a state."""


# Such data remember the epoch that was left: only the run that saved shows what follows.
@_unusual(
    "work left and saved",
    (False,),
    bites=("saved after a broken epoch", "draws"),
    epochs=0,
    shape=((9, 2),),
    unusual=("buffer", "on both", "history", "private numpy", "random", "stateful"),
    each=("where",),
    where=tuple(LEFT),
)
def _left_and_saved(c: Cell, w: Workload) -> Case:
    return c.play(f"take 2, break, {LEFT[c.where]}, save s, drain, drain | load s, drain, drain", w)


@_unusual(
    "work execution", (True,), bites=("a user's sampler", "persistent workers"), epochs=3,
    shape=((13, 2),), unusual=("distributed", "less samples"), kind=("map",),
)  # fmt: skip
def _execution(c: Cell, w: Workload) -> Case | None:
    if c.persistent or not (w.shuffle or w.grow):
        return None  # each epoch is like the one before
    return c.play("| [persistent=true ambient=1] drain, drain, drain", w)


@_unusual(
    "work elastic",
    (True,),
    bites=("more workers than before", "no workers than before"),
    needs=("fixed plan",),
    pair=WORKER_PAIRS,
)
def _elastic(c: Cell, w: Workload) -> Case:
    before, after = c.pair
    lanes = before or after
    at = usual_length(w, c.execution(workers=before, lanes=lanes)) // 2
    sessions = f"take {at}, save s | [workers={after}] load s, {drains(w.epochs)}"
    return c.play(sessions, w, workers=before, lanes=lanes)


# A dataset that always hands out the same object changes it when it is asked again.
@_unusual(
    "work sealed late",
    bites=("encoded late", "a full window"),
    unusual=("mutated", "buffer", "on the iterator", "history", "stateful"),
)
def _sealed_late(c: Cell, w: Workload) -> Case:
    saved = "take 2, save s, take 1, save t, drain, drain, seal s late"
    return c.play(f"{saved} | load late, drain, drain", w)


# A state's mutable parts: those of samplers, of generators and of datasets.
MUTABLE = named("sampler", "private", "tree", "stream", "iterator", "history")


@_unusual(
    "work edited after save",
    bites=("a replay from the beginning", "a full window"),
    each=("sampler",),
    unusual=MUTABLE,
)
def _edited_after_save(c: Cell, w: Workload) -> Case:
    return c.play("take 2, save s, edit s, drain, drain | load s, drain, drain", w)


@_unusual(
    "work edited after load",
    bites=("a state edited", "fewer batches since the load than workers"),
    each=("sampler",),
    unusual=MUTABLE,
    soon=(0, 1),
)
def _edited_after_load(c: Cell, w: Workload) -> Case:
    edited = "take 1, edit s" if c.soon else "edit s"
    resumed = f"load s, {edited}, save t, drain, drain | load t, drain, drain"
    return c.play(f"take 2, save s | {resumed}", w)


@_unusual(
    "work by reference", bites=("saved again", "a full window"), each=("sampler",), unusual=MUTABLE
)
def _by_reference(c: Cell, w: Workload) -> Case:
    return c.play("take 2, save s | load s, take 1, save t, drain, drain, seal s late", w)


@_unusual(
    "work refused",
    bites=("an older state", "fewer batches since the load than workers"),
    epochs=3,
    needs=("samples",),
    each=("sampler", "epochs"),
    shape=((13, 3),),
    begun=(True, False, "loaded"),
    later=(True, False),
)
def _refused(c: Cell, w: Workload) -> Case | None:
    """Refuse a state of another batch size; then go on, save, and resume."""
    if c.unusual == "distributed" and not (c.shuffle and c.later and not c.begun):
        return None  # each epoch is like the one before, or has its order already
    before, begun = drains(int(c.later)), "take 1, " if c.begun else ""
    first = f"[batch_size=2] {before}, take 2, save s"
    if c.begun == "loaded":  # a state that is to be continued next
        return c.play(f"take 1, save t | {first} | load t, load s?, drain, drain", w)
    refused = f"{begun}load s?, take 1, save t, drain, drain"
    return c.play(f"{first} | {refused} | load t, drain, drain", w)


@_unusual(
    "work interrupted",
    bites=("an interrupt", "an interval longer than the epoch", "a snapshot of the pass before"),
    needs=("samples",),
    shape=((13, 3),),
    interval=(100,),
    sample=(6, 1, 11),
    where=("goes on", "saved"),
    unusual=("random", "stateful", "private python", "private numpy", "buffer", "on the iterator"),
)
def _interrupted(c: Cell, w: Workload) -> Case | None:
    """Interrupt a batch of data that remember what was drawn for it."""
    if c.sample != 6 and not w.sampler:
        return None  # only a sampler decides when a sample comes
    # The first of two lanes has delivered nothing, and the second has not been asked.
    first = bool(w.private) and c.kind in LANED
    made = dataclasses.replace(w, interrupt_at=2 if first else c.sample, log="auto")
    return c.play(INTERRUPTED[c.where], made, **({"lanes": c.workers or 2} if first else {}))


UNEVEN: dict[str, Any] = {"section": "unusual", "shape": ((16, 2), (13, 2)), "kind": KINDS}


@family("uneven plain", (True,), bites=("several epochs", "workers"), needs=("samples",), **UNEVEN)
def _uneven_plain(c: Cell) -> Case | None:
    return _gated(c, "[host=b] drain, drain")


@family("uneven", (True,), bites=("a full window",), needs=("samples",), **UNEVEN, position=(1, 3))
def _uneven(c: Cell) -> Case | None:
    return _gated(c, f"take {c.position}, save s | [gate=null] load s, drain, drain")


def _gated(c: Cell, sessions: str) -> Case | None:
    """Return the case whose first worker waits until the second has begun its second batch."""
    workers, (n, size) = c.workers, c.shape
    if workers < 2 or c.shuffle:
        return None
    if c.kind in ("map", "stateful_map"):
        samples = range(n)[size * (workers + 1) :]
    else:
        samples = range(n)[1::workers][size:]
    return c.play(sessions, c.workload(gate=(0, samples[0]), log="auto")) if samples else None
