"""The families of what users hand to a loader beside a dataset, and of errors that they survive.

These are a set-up of workers (``worker_init_fn``), a sampler whose keys are lists, streams that the
loader shuffles, and the names of epochs (``set_epoch``). All is pure.
"""

from __future__ import annotations

import dataclasses
import random
from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.data.samplers import Custom
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.execution import WORKER_PAIRS
from midepoch_conformance.families.family import (
    CUTS,
    GOES_ON,
    ITERABLES,
    Cell,
    chained,
    drains,
    family,
)
from midepoch_conformance.families.faults.outages import STOPPED

__all__: list[str] = []

_users = partial(family, section="users")


# Without workers nothing is set up.
_divided = partial(
    _users,
    workers=(True,),
    needs=("samples",),
    shape=((13, 2),),
    persistent=(False, True),
    tail=("keep",),
)


@_divided("divided", kind=ITERABLES, bites=("several epochs", "persistent workers"))
def _divided_whole(c: Cell) -> Case:
    """The set-up of each worker divides the dataset, in each epoch."""
    return c.play("drain, drain", c.workload(stream="divided"))


@_divided("divided later", kind=("stateful_iterable",), bites=("a later epoch",))
def _divided_later(c: Cell) -> Case:
    steps = "drain, take 3, save s | load s, drain, drain"
    return c.play(steps, c.workload(3, stream="divided"))


_keyed = partial(
    _users, quick=("inline",), shape=((13, 2),), kind=("map",), bites=("a user's sampler",)
)


@_keyed("keys", epoch=(0, 1), cut=("half",), tail=("keep", "rollover"))
def _keys(c: Cell) -> Case | None:
    if c.shuffle:
        return None  # a sampler takes the place of the loader's own order
    steps = f"{drains(c.epoch)}, take {c.at}, save s | load s, {drains(3 - c.epoch)}"
    return c.play(steps, c.workload(3, sampler="keys"))


@_keyed("keys ended", tail=("keep", "rollover"))
def _keys_ended(c: Cell) -> Case | None:
    if c.shuffle:
        return None  # as above
    return c.play("drain, save s | load s, drain, drain", c.workload(3, sampler="keys"))


@_keyed("keys edited", tail=("rollover",), where=("saved", "loaded"))
def _keys_edited(c: Cell) -> Case | None:
    """Edit keys that a state carries into the next epoch."""
    if c.shuffle:
        return None  # as above
    steps = "drain, save s, edit s, drain | load s, drain, drain"
    if c.where == "loaded":
        steps = "drain, save s | load s, edit s, save t, drain, drain | load t, drain, drain"
    return c.play(steps, c.workload(3, sampler="keys"))


# Streams in an order of the loader's own, as a shuffle buffer makes it.
_shuffled = partial(
    _users,
    needs=("samples",),
    kind=("stateful_iterable",),
    shape=((13, 2),),
    tail=("keep",),
    bites=("shuffled",),
)


def _stream(c: Cell, epochs: int = 2) -> Workload:
    return dataclasses.replace(c.workload(epochs), shuffle=True, seed=3)


@_shuffled("shuffled stream", quick=("inline",))
def _shuffled_stream(c: Cell) -> Case:
    return c.play("drain, drain", _stream(c))


@_shuffled("shuffled stream cut", cut=CUTS)
def _shuffled_stream_cut(c: Cell) -> Case:
    return c.play(f"take {c.at}, save s | load s, drain, drain", _stream(c))


@_shuffled("shuffled stream chain", quick=("inline",))
def _shuffled_stream_chain(c: Cell) -> Case:
    return c.play(chained("take 1", "take 1", "drain, drain"), _stream(c))


@_shuffled("shuffled stream later", quick=("inline",), epoch=(1, 2), cut=("half",))
def _shuffled_stream_later(c: Cell) -> Case:
    steps = f"{drains(c.epoch)}, take {c.at}, save s | load s, {drains(3 - c.epoch)}"
    return c.play(steps, _stream(c, 3))


@_shuffled("shuffled stream ended", quick=("inline",))
def _shuffled_stream_ended(c: Cell) -> Case:
    return c.play("drain, save s | load s, drain, drain", _stream(c, 3))


@_users(
    "caught again",
    bites=("an error", "off the interval", "saved again"),
    needs=("samples",),
    quick=("inline",),
    shape=((13, 1),),
    kind=("stateful_map", "stateful_iterable"),
    sample=(3, 6),
    interval=(3, 100),
    tail=("keep",),
)
def _caught_again(c: Cell) -> Case:
    """Survive an exception; then resume twice before the dataset is asked for its state again."""
    again = "load s, take 1?, save t | load t, drain?, drain?, drain?, drain?"
    stream = GOES_ON if c.kind in ITERABLES else "plain"
    w = c.workload(fail_at=c.sample, stream=stream)
    return c.play(f"drain?, save s | {again}", w)


_uncollated = partial(
    _users,
    bites=("an error", "workers", "no workers"),
    needs=("samples",),
    shape=((13, 2),),
    kind=("map", "stateful_map", *ITERABLES),
    tail=("keep",),
)


@_uncollated("failing collate")
def _failing_collate(c: Cell) -> Case:
    return c.play("drain", c.workload(1, fail_at=6, fails_in="collate_fn"))


@_uncollated("caught in collate", saved=("later", "right after"), bad=(3, 6), apart=(100, 1))
def _caught_in_collate(c: Cell) -> Case:
    """Survive an exception of the collate_fn; it ends no stream, and no replay meets it again."""
    sessions = f"{STOPPED[c.saved]}, save s | load s, drain?, drain?, drain?, drain?"
    return c.play(sessions, c.workload(fail_at=c.bad, fails_in="collate_fn"), interval=c.apart)


@_users(
    "caught and healed",
    (True,),
    bites=("an error", "a lost worker"),
    needs=("samples",),
    shape=((13, 1),),
    kind=("stateful_map",),
    interval=(100,),
    tail=("keep",),
)
def _caught_and_healed(c: Cell) -> Case:
    """Survive an exception; then the same worker dies, and its batches are made again."""
    # One, two or three workers have both samples in one lane.
    w = c.workload(1, fail_at=2, die_at=8, die_once=True, log="auto")
    return c.play("drain?, drain?", w, restarts=2)


@_users(
    "healed again",
    (True,),
    bites=("a lost worker", "a replacement replaced"),
    needs=("samples",),
    shape=((13, 1),),
    kind=("stateful_map", "stateful_iterable"),
    tail=("keep",),
)
def _healed_again(c: Cell) -> Case:
    """A worker dies, and then the next one while the dataset's state is loaded into it."""
    w = c.workload(die_at=8, die_once=True, dies_again=True, log="auto")
    return c.play("drain, drain", w, restarts=3)


@_users(
    "unordered sampler",
    (True,),
    bites=("a user's sampler",),
    needs=("samples",),
    shape=((26, 2),),
    kind=("map",),
    position=(4, 6),
    tail=("keep",),
)
def _unordered_sampler(c: Cell) -> Case | None:
    """Save after several batches of a user's sampler have overtaken the first one."""
    if c.workers < 2 or c.shuffle:
        return None
    w = c.workload(sampler="custom", log="auto")
    order = list(Custom.order(random.Random(w.seed), w.n))
    w = dataclasses.replace(w, gate=(order[0], order[10]))
    steps = f"take {c.position}, save s0 | [gate=null] load s0, drain, drain"
    return c.play(steps, w, in_order=False)


@_users(
    "lost twice",
    (True,),
    bites=("a lost worker", "persistent workers"),
    needs=("samples",),
    shape=((13, 1),),
    kind=("map", "stateful_map", *ITERABLES),
    persistent=(False, True),
    tail=("keep",),
)
def _lost_twice(c: Cell) -> Case:
    """A worker dies at a batch, and its replacement at a later one."""
    # One or two workers have both samples in one lane.
    w = c.workload(exits_at=(4, 8), log="auto")
    return c.play("drain, drain", w, restarts=3)


@_users(
    "used after a death",
    (True,),
    bites=("a lost worker", "persistent workers"),
    needs=("samples",),
    shape=((13, 2),),
    kind=("map",),
    persistent=(False, True),
    tail=("keep",),
)
def _used_after_a_death(c: Cell) -> Case:
    """Load a state into the loader whose worker has died."""
    steps = "take 2, save s | [die_at=8 die_once=true log=auto] drain?, load s, break, drain, drain"
    return c.play(steps, c.workload())


@_users(
    "set stream",
    bites=("a later epoch", "persistent workers"),
    shape=((13, 2),),
    kind=ITERABLES,
    persistent=(False, True),
    tail=("keep",),
)
def _set_stream(c: Cell) -> Case | None:
    """The user sets the epoch of a stream before each epoch."""
    if c.persistent and not c.workers:
        return None
    return c.play("drain, take 3, save s | load s, drain, drain", c.workload(3, stream="set"))


NAMED = {
    "at a boundary": "drain, name_epoch 2, save s, drain, drain | load s, drain, drain",
    "within": "take 1, name_epoch 3, save s, drain, drain | load s, drain, drain",
    "left": "take 1, break, name_epoch 3, take 1, save s, drain, drain | load s, drain, drain",
    "rolled back": "drain, save s, name_epoch 2, drain, name_epoch 3, drain, load s, drain, drain",
}
"""The sessions in which the caller names an epoch (END-16)."""


@_users(
    "named epoch",
    bites=("a named epoch", "persistent workers", "draws"),
    shape=((13, 2),),
    kind=("map", *ITERABLES),
    plot=tuple(NAMED),
    draw=("", "own"),
    tail=("keep",),
)
def _named_epoch(c: Cell) -> Case | None:
    if bool(c.draw) is not bool(c.workers):
        return None  # a loader that has begun another epoch early shows it by its draws
    w = c.workload(5, draws=(c.draw,) if c.draw else ())
    return c.play(NAMED[c.plot], w, **({"persistent": True, "prefetch": 2} if c.workers else {}))


@_users(
    "set and left",
    (True,),
    bites=("an epoch broken off", "a user's sampler", "persistent workers"),
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
