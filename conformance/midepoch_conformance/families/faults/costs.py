"""The families of costs: the size of states, calls and repeated fetches (pure)."""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import (
    ITERABLES,
    LONG,
    Cell,
    chained,
    drains,
    family,
)

ONE = ((13, 4),)
SAVED, FIRST, FAR, SHORT, DEEP, EARLY, RESUMED = 12, 250, 17, 160, 26, 10, 6
"""How often a state is saved, the batches before the first state of a long epoch and between two
of them, the samples of a short epoch, how many batches deep its states are taken, how many epochs
come before the first of them, and how many saved states are resumed. All counts of batches, samples
and epochs have equally many digits each time: a state's digits are no slope."""

MANY = 30
"""So many states are saved in a row, one after each batch."""


def _growing_epochs(saved: int, apart: int) -> str:
    """Return a session that saves states in late epochs, so many epochs apart."""
    each = (f"take {DEEP}, save s{i}, {drains(apart)}" for i in range(saved))
    return ", ".join((drains(EARLY), *each))


EPOCHS = EARLY + 2 * SAVED
"""The epochs of a run that saves a state in each second one after the early ones."""

GROWING = {
    "epoch": ", ".join(f"take {FAR if i else FIRST}, save s{i}" for i in range(SAVED)),
    "epochs": _growing_epochs(SAVED, 2),
    "resumes": chained(f"take {DEEP}", *["take 1"] * SAVED) + f", save s{SAVED}",
}
"""The sessions that save states at equal distances, by the measure that a cost may grow with: the
batches of an epoch, the epochs, or the resumes."""

AGAIN = {
    "epoch": ", ".join(f"take {2 * FAR if i else FIRST}, save s{i}" for i in range(RESUMED)),
    "epochs": _growing_epochs(RESUMED, 2 * SAVED // RESUMED),
}
"""The same with fewer states, farther apart: a resume of each takes longer than its saving."""

_fault = partial(family, section="faults")


@_fault(
    "size",
    bites=("a replay from the beginning", "saved again", "several epochs"),
    needs=("samples",),
    quick=("inline",),
    shape=(LONG,),
    kind=("map", *ITERABLES),
    where=tuple(GROWING),
    tail=("keep",),
)
def _size(c: Cell) -> Case:
    return c.play(GROWING[c.where], _growing(c))


@family(
    "size out of order",
    (True,),
    bites=("workers",),
    section="extremes",
    needs=("samples",),
    shape=(LONG,),
    kind=("map",),
    tail=("keep",),
)
def _size_out_of_order(c: Cell) -> Case | None:
    """Take states while one sample keeps its worker busy, and hundreds of batches overtake it."""
    if c.workers < 2 or c.shuffle:
        return None
    w = c.workload(1, log="auto", gate=(0, c.shape[0] - 1))
    return c.play(GROWING["epoch"], w, in_order=False)


@_fault(
    "calls",
    bites=("an interval", "off the interval", "workers"),
    needs=("samples",),
    shape=(LONG,),
    kind=("stateful_iterable", "stateful_map"),
    interval=(100, 3),
    where=(*GROWING, "saves", "another interval"),
    tail=("keep",),
)
def _calls(c: Cell) -> Case | None:
    if c.where in ("saves", "another interval"):
        if c.interval < MANY:
            return None  # a snapshot for every few of the states, or the same interval
        saves = ", ".join(f"take 1, save s{i}" for i in range(MANY))
        other = "[interval=3] take 3, save s | load s, drain"
        return c.play(saves if c.where == "saves" else other, c.workload(1, log="auto"))
    w = _growing(c, "auto")
    return c.play(GROWING["resumes"] if c.where == "resumes" else drains(w.epochs), w)


@family(
    "calls of lanes",
    bites=("an interval", "more lanes than workers"),
    section="positions",
    needs=("samples",),
    shape=(LONG,),
    kind=("stateful_iterable",),
    interval=(100,),
    tail=("keep",),
)
def _calls_of_lanes(c: Cell) -> Case | None:
    # Lanes share the interval: a short one has a snapshot for each batch, however it is divided.
    if c.workers == 1:
        return None
    return c.play("drain", c.workload(1, log="auto"), lanes=c.workers or 3)


@_fault(
    "fetched again",
    bites=("an interval", "a full window", "an older state", "off the interval"),
    needs=("samples",),
    shape=(LONG,),
    kind=("map", "stateful_iterable", "stateful_map"),
    where=tuple(GROWING),
    interval=(1, 3),
    tail=("keep",),
)
def _fetched_again(c: Cell) -> Case:
    if c.where == "resumes":
        return c.play(GROWING[c.where], _growing(c, "auto"))
    each = "".join(f" | load s{i}, take 1" for i in range(RESUMED))
    return c.play(AGAIN[c.where] + each, _growing(c, "auto"))


@family(
    "fetched again untold",
    (False,),
    bites=("an older state",),
    section="extremes",
    needs=("samples",),
    shape=(LONG,),
    kind=("stateful_iterable",),
    tail=("keep",),
)
def _fetched_again_untold(c: Cell) -> Case:
    """Now and then the dataset cannot tell its state; later snapshots are as good as before."""
    each = "".join(f" | load s{i}, take 1" for i in range(RESUMED))
    return c.play(AGAIN["epoch"] + each, c.workload(1, log="auto", unsaved=7))


def _growing(c: Cell, log: str | None = None) -> Workload:
    """Return a workload with one long epoch, or with short ones."""
    w = c.workload(EPOCHS if c.where == "epochs" else 1, log=log)
    return w if c.where == "epoch" else dataclasses.replace(w, n=SHORT)


ITERATED = {
    "mid": "take 1, save s | load s",
    "later": "drain, take 1, save s | load s",
    "chain": "take 1, save s | load s, take 1, save t | load t",
}
"""The resumes after which the epochs are iterated."""


@_fault(
    "iterated again",
    bites=("a replay from the beginning", "saved again", "workers"),
    needs=("samples",),
    shape=ONE,
    kind=ITERABLES,
    tail=("keep",),
    where=tuple(ITERATED),
    keeper=("dataset", "iterator"),
)
def _iterated_again(c: Cell) -> Case | None:
    if c.keeper == "iterator" and (c.kind != "stateful_iterable" or c.where == "chain"):
        return None
    w = c.workload(3, log="auto", state_at=c.keeper)
    return c.play(f"{ITERATED[c.where]}, drain, drain", w)
