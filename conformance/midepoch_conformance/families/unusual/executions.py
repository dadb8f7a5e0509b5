"""Unusual workloads under other executions, and epochs of them that are left (pure)."""

from __future__ import annotations

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.execution import WORKER_PAIRS
from midepoch_conformance.families.family import Cell, drains
from midepoch_conformance.families.unusual.family import at_cut, unusual


# One epoch: a lane's dataset lives as long as its worker, and so does its history.
@unusual(
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
@unusual(
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
    at, laned = at_cut(c, w), c.kind != "map"

    def under(workers: int) -> str:
        # A Stateful dataset lives for the run without workers, and with those that persist.
        lasting = f" persistent={'true' if workers else 'false'}" if laned else ""
        return f"workers={workers}{lasting}"

    steps = f"take {at}, break, drain, drain"
    sessions = f"[{under(before)}] {steps} | [{under(after)} ambient=1] {steps}"
    return c.play(sessions, w, lanes=(before or after) if laned else None) if at else None


LEFT = {
    "begun": "take 1",
    "untouched": "take 0",
    "again": "take 1, break, take 0",
    "again begun": "take 1, break, take 1",
}
"""The steps between an epoch that is left and a state."""


# Such data remember the epoch that was left: only the run that saved shows what follows.
@unusual(
    "work left and saved",
    (False,),
    bites=("saved after a broken epoch", "draws"),
    epochs=0,
    shape=((9, 2),),
    unusual=(
        "buffer",
        "on both",
        "history",
        "private numpy",
        "random",
        "stateful",
        "drawing",
        "permuting",
    ),
    each=("where",),
    where=tuple(LEFT),
)
def _left_and_saved(c: Cell, w: Workload) -> Case:
    return c.play(f"take 2, break, {LEFT[c.where]}, save s, drain, drain | load s, drain, drain", w)


@unusual(
    "work execution", (True,), bites=("a user's sampler", "persistent workers"), epochs=3,
    shape=((13, 2),), unusual=("distributed", "less samples"), kind=("map",),
)  # fmt: skip
def _execution(c: Cell, w: Workload) -> Case | None:
    if c.persistent or not (w.shuffle or w.grow):
        return None  # each epoch is like the one before
    return c.play("| [persistent=true ambient=1] drain, drain, drain", w)


@unusual(
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
