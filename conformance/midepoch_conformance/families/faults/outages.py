"""The families of outages (pure).

An outage is a killed process, a caught exception, a dead worker or a leak. The uninterrupted run
of "caught" fails at the same sample and continues: see
:func:`midepoch_conformance.case.uninterrupted.oracle_case`.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.families.family import (
    GOES_ON,
    ITERABLES,
    LANED,
    Cell,
    drains,
    family,
)

__all__ = ["EPOCHS_COUNTED", "HEALED", "HELD", "INTERRUPTED", "STOPPED"]

ONE = ((13, 4),)
STOPPED = {"before": "take 1?", "right after": "drain?", "later": "drain?, take 1?"}
"""The deliveries before the state is taken; a tolerated drain stops at the fault."""

HELD = {
    "closed": ", open, ".join(["take 1, close, count"] * 5),
    "loaded anew": "take 1, save s, count" + ", load s, break, take 1, count" * 4,
    "kept": "drain, save s, count" + ", load s, drain, count" * 4,
    "replaced": ", ".join(["take 1, lose, drain, count"] * 5),
}
"""Equal rounds with a count after each: a leak grows from round to round, a pool only twice."""

EPOCHS_COUNTED = 16
"""The epochs over which fetches are counted: one sample more in each shows, see COST-5."""


_outage = partial(family, section="outages")


@_outage("killed", bites=("a killed process", "workers"), shape=ONE, cut=("half",), tail=("keep",))
def _killed(c: Cell) -> Case:
    return c.play(f"take {c.at}, save s, take 1, kill | load s, drain, drain")


@_outage(
    "caught",
    bites=("an error", "an interval longer than the epoch", "a snapshot of the pass before"),
    needs=("samples",),
    shape=ONE,
    kind=("map", *LANED),
    sample=(1, 6),
    where=tuple(STOPPED),
    interval=(1, 100),
    tail=("keep",),
)
def _caught(c: Cell) -> Case:
    # Two drains an epoch: up to the fault, and from there to the end.
    sessions = f"{STOPPED[c.where]}, save s | load s, drain?, drain?, drain?, drain?"
    stream = GOES_ON if c.kind in ITERABLES else "plain"
    return c.play(sessions, c.workload(fail_at=c.sample, stream=stream))


_QUIET = "[interrupt_at=null] load s, drain, drain"

INTERRUPTED = {
    "goes on": "take 0, drain?, drain?, drain",
    "saved": f"drain?, save s | {_QUIET}",
    "saved later": f"drain?, take 1?, save s | {_QUIET}",
    "left": "drain?, break, drain",
}
"""The sessions with an interrupt, which a tolerated drain stops at."""


@_outage(
    "interrupted",
    bites=(
        "an interrupt",
        "a snapshot of the pass before",
        "on the interval",
        "workers",
        "no workers",
    ),
    needs=("samples",),
    shape=ONE,
    kind=("map", *ITERABLES, "stateful_map"),
    sample=(6, 0),
    where=tuple(INTERRUPTED),
    interval=(1, 3),
    tail=("keep",),
)
def _interrupted(c: Cell) -> Case | None:
    if c.where == "left" and (not c.sample or c.kind == "stateful_map"):
        return None  # the loader decides whether the epoch was begun, or its rows remember that
    return c.play(INTERRUPTED[c.where], c.workload(3, interrupt_at=c.sample, log="auto"))


@_outage(
    "failed replay",
    bites=("an error", "a fault after a resume", "on the interval", "off the interval"),
    needs=("samples",),
    quick=("inline",),
    shape=ONE,
    kind=("map", *ITERABLES, "stateful_map"),
    interval=(1, 100),
    where=("ends", "goes on", "heals"),
    tail=("keep",),
)
def _failed_replay(c: Cell) -> Case | None:
    if c.where == "goes on" and c.kind not in ITERABLES:
        return None
    # Sample 1 was delivered: only a loader that makes batches again fetches it.
    resumed = "[fail_at=1] load s, drain?, save t | load t, drain, drain"
    if c.where == "heals":  # the sample can be read again: the loader itself goes on
        resumed = "[fail_at=1 fail_once=true] load s, drain?, drain, drain"
    w = c.workload(stream=GOES_ON if c.where == "goes on" else "plain", log="auto")
    # The drain shows whether the loader fetches samples of the next epoch, too.
    return c.play(f"take 3, save s, drain | {resumed}", w)


@_outage(
    "after a death",
    (True,),
    bites=("a lost worker", "several epochs"),
    needs=("samples",),
    shape=ONE,
    sample=(0, 6),
    tail=("keep",),
)
def _after_a_death(c: Cell) -> Case:
    sessions = "drain?, save s | [die_at=null] load s, drain, drain"
    return c.play(sessions, c.workload(die_at=c.sample))


HEALED = {
    "through": "drain, drain",
    "during": "take 3, save s | [die_at=null] load s, drain, drain",
    "later": "drain, take 1, save s | [die_at=null] load s, drain",
    "resumed": "[die_at=null] drain, take 1, save s | load s, drain",
}
"""The sessions of a loader that replaces its workers. A worker dies in the first session, or if the
run is "resumed", in the second one: in a later epoch."""


@_outage(
    "healed",
    (True,),
    bites=("a lost worker", "a worker replaced", "off the interval"),
    needs=("samples",),
    each=("kind",),
    shape=(*ONE, (13, 1)),
    kind=("map", *LANED),
    sample=(9, 0),
    where=tuple(HEALED),
    interval=(3, 1, 100),
    draw=("", "own"),
    tail=("keep",),
)
def _healed(c: Cell) -> Case | None:
    single = c.shape[1] == 1  # only then has a lane several batches between two snapshots
    if single and not (c.interval == 100 or (c.interval == 3 and c.kind == "stateful_map")):
        return None  # only these look at such lanes: before a first snapshot, or after one
    if c.interval == 100 and not single:
        return None
    if c.where == "resumed" and not (c.sample and c.draw):
        return None  # it was delivered before, or no number tells the epochs apart
    draws = (c.draw,) if c.draw else ()
    w = c.workload(die_at=c.sample, die_once=True, log="auto", draws=draws)
    return c.play(HEALED[c.where], w, restarts=2)


@_outage(
    "killed again",
    (True,),
    bites=("a lost worker",),
    needs=("samples",),
    shape=ONE,
    kind=("map",),
    sample=(6,),
    tail=("keep",),
)
def _killed_again(c: Cell) -> Case:
    return c.play("drain", c.workload(1, die_at=c.sample), restarts=2)


@_outage(
    "failing start",
    bites=("a fault after a resume", "a replay from the beginning"),
    needs=("samples",),
    shape=ONE,
    kind=ITERABLES,
    where=("started", "resumed"),
    tail=("keep",),
)
def _failing_start(c: Cell) -> Case:
    # Only streams other than the plain one have something to set up.
    if c.where == "started":
        return c.play("drain", c.workload(1, stream="filter", fail_at=-1))
    sessions = "take 2, save s | [fail_at=-1] load s, drain"
    return c.play(sessions, c.workload(1, stream="filter"))


@_outage(
    "held",
    bites=("loaded again", "an epoch broken off", "persistent workers"),
    shape=ONE,
    when=tuple(HELD),
    tail=("keep",),
)
def _held(c: Cell) -> Case | None:
    if c.when not in ("kept", "replaced"):
        return c.play(HELD[c.when])
    if not c.workers:
        return None
    if c.when == "kept":  # the workers that are kept at the end of an epoch
        return c.play(HELD[c.when], persistent=True)
    # Those in the place of others that died, while enough batches were left to them.
    w = dataclasses.replace(c.workload(), batch_size=1)
    return c.play(HELD[c.when], w, persistent=True, restarts=5)


@_outage(
    "fetched once", bites=("several epochs", "workers", "no workers"), needs=("samples",),
    shape=((5, 2),), where=("fresh", "resumed"), tail=("keep",),
)  # fmt: skip
def _fetched_once(c: Cell) -> Case:
    counted = drains(EPOCHS_COUNTED)
    if c.where == "fresh":
        return c.play(counted, c.workload(EPOCHS_COUNTED, log="auto"))
    workload = c.workload(EPOCHS_COUNTED + 1, log="auto")
    return c.play(f"drain, take 1, save s | load s, {counted}", workload)
