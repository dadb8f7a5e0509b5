"""The families of refused states, of faults, of costs and of outages (pure).

An outage is a killed process, a caught exception, a dead worker or a leak. The uninterrupted run
of "caught" fails at the same sample and continues: see
:func:`midepoch_conformance.case.uninterrupted.oracle_case`.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import CAUGHT, Case
from midepoch_conformance.case.tampering import BOGUS
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import (
    GOES_ON,
    ITERABLES,
    LANED,
    LONG,
    Cell,
    chained,
    drains,
    family,
)

__all__ = ["EPOCHS_COUNTED", "HEALED", "HELD", "INTERRUPTED", "PLANS", "STOPPED"]

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
_outage = partial(family, section="outages")


# States that cannot be continued.


@_fault("no state", quick=("inline",), shape=ONE, value=BOGUS, tail=("keep",))
def _no_state(c: Cell) -> Case:
    return c.play(f"load_bogus {c.value}, drain, drain")


@_fault("part removed", shape=ONE, part=tuple(range(15)), kind=("map", "iterable"), tail=("keep",))
def _part_removed(c: Cell) -> Case:
    return c.play(f"take 2, save s | load_cut s {c.part}, drain, drain")


@_fault(
    "other plan", needs=("samples",),
    shape=ONE, plan=tuple(PLANS), tail=("keep", "drop", "rollover"),
)  # fmt: skip
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


@_fault("after a refusal", shape=ONE, value=BOGUS, used=tuple(REFUSED), tail=("keep",))
def _after_a_refusal(c: Cell) -> Case | None:
    if c.used == "left" and (c.workers or c.kind == "stateful_map"):
        return None  # no worker is there between two epochs; such rows remember the one left
    played = REFUSED[c.used].format(bogus=f"load_bogus {c.value}?")
    return c.play(played if c.used == "loaded" else f"{played} | load s, drain, drain")


# Faults.


@_fault("killed worker", (True,), needs=("samples",), shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _killed_worker(c: Cell) -> Case:
    return c.play("drain", c.workload(1, die_at=c.sample))


@_fault("failing sample", needs=("samples",), shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _failing_sample(c: Cell) -> Case:
    return c.play("drain", c.workload(1, fail_at=c.sample))


@_fault(
    "stop iteration", needs=("samples",),
    shape=ONE, sample=(0, 6, 12), then=(False, True), kind=("map",), tail=("keep",),
)  # fmt: skip
def _stop_iteration(c: Cell) -> Case:
    w = c.workload(1, stop_at=c.sample)
    return c.play("drain", dataclasses.replace(w, batch_size=0) if c.then else w)


@_fault("left behind", (True,), shape=ONE, when=("mid", "end", "broken"), tail=("keep",))
def _left_behind(c: Cell) -> Case:
    steps = {"mid": "take 2", "end": "drain", "broken": "take 1, break, take 1"}[c.when]
    return c.play(f"{steps}, close")


# Costs.


@_fault(
    "size",
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
    "size out of order", (True,), section="extremes", needs=("samples",), quick=("left out",),
    shape=(LONG,), kind=("map",), tail=("keep",),
)  # fmt: skip
def _size_out_of_order(c: Cell) -> Case | None:
    """Take states while one sample keeps its worker busy, and hundreds of batches overtake it."""
    if c.workers < 2 or c.shuffle:
        return None
    w = c.workload(1, log="auto", gate=(0, c.shape[0] - 1))
    return c.play(GROWING["epoch"], w, in_order=False)


@_fault(
    "calls",
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
    "calls of lanes", section="positions", needs=("samples",),
    shape=(LONG,), kind=("stateful_iterable",), interval=(100,), tail=("keep",),
)  # fmt: skip
def _calls_of_lanes(c: Cell) -> Case | None:
    # Lanes share the interval: a short one has a snapshot for each batch, however it is divided.
    if c.workers == 1:
        return None
    return c.play("drain", c.workload(1, log="auto"), lanes=c.workers or 3)


@_fault(
    "fetched again",
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
    "iterated again", needs=("samples",), shape=ONE, kind=ITERABLES, tail=("keep",),
    where=tuple(ITERATED),
)  # fmt: skip
def _iterated_again(c: Cell) -> Case:
    return c.play(f"{ITERATED[c.where]}, drain, drain", c.workload(3, log="auto"))


# Outages.


STOPPED = {"before": "take 1?", "right after": "drain?", "later": "drain?, take 1?"}
"""The deliveries before the state is taken; a tolerated drain stops at the fault."""

HELD = {
    "closed": ", open, ".join(["take 2, close, count"] * 3),
    "loaded anew": "take 1, save s, count" + ", load s, break, take 1, count" * 2,
    "kept": "drain, save s, count" + ", load s, drain, count" * 2,
}
"""Equal rounds with a count after each: a leak grows from round to round."""

EPOCHS_COUNTED = 8
"""The epochs over which fetches are counted: more than an epoch has samples, see COST-5."""


@_outage("killed", shape=ONE, cut=("half",), tail=("keep",))
def _killed(c: Cell) -> Case:
    return c.play(f"take {c.at}, save s, take 1, kill | load s, drain, drain")


@_outage(
    CAUGHT,
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
    "interrupted", needs=("samples",),
    shape=ONE, kind=("map", *ITERABLES, "stateful_map"), sample=(6, 0), where=tuple(INTERRUPTED),
    interval=(1, 3), tail=("keep",),
)  # fmt: skip
def _interrupted(c: Cell) -> Case | None:
    if c.where == "left" and (not c.sample or c.kind == "stateful_map"):
        return None  # the loader decides whether the epoch was begun, or its rows remember that
    return c.play(INTERRUPTED[c.where], c.workload(3, interrupt_at=c.sample, log="auto"))


@_outage(
    "failed replay", needs=("samples",), quick=("inline",), shape=ONE,
    kind=("map", *ITERABLES, "stateful_map"), interval=(1, 100), where=("ends", "goes on"),
    tail=("keep",),
)  # fmt: skip
def _failed_replay(c: Cell) -> Case | None:
    if c.where == "goes on" and c.kind not in ITERABLES:
        return None
    # Sample 1 was delivered: only a loader that makes batches again fetches it.
    resumed = "[fail_at=1] load s, drain?, save t | load t, drain, drain"
    w = c.workload(stream=GOES_ON if c.where == "goes on" else "plain", log="auto")
    # The drain shows whether the loader fetches samples of the next epoch, too.
    return c.play(f"take 3, save s, drain | {resumed}", w)


@_outage("after a death", (True,), needs=("samples",), shape=ONE, sample=(0, 6), tail=("keep",))
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
    "healed", (True,), needs=("samples",),
    each=("kind",), shape=(*ONE, (13, 1)), kind=("map", *LANED), sample=(9, 0), where=tuple(HEALED),
    interval=(3, 1, 100), draw=("", "own"), tail=("keep",),
)  # fmt: skip
def _healed(c: Cell) -> Case | None:
    if (c.interval == 100) is not (c.shape[1] == 1):
        return None  # many batches since the last snapshot, or few
    if c.where == "resumed" and not (c.sample and c.draw):
        return None  # it was delivered before, or no number tells the epochs apart
    draws = (c.draw,) if c.draw else ()
    w = c.workload(die_at=c.sample, die_once=True, log="auto", draws=draws)
    return c.play(HEALED[c.where], w, restarts=2)


@_outage(
    "killed again",
    (True,),
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


@_outage("held", shape=ONE, when=tuple(HELD), tail=("keep",))
def _held(c: Cell) -> Case | None:
    if c.when != "kept":
        return c.play(HELD[c.when])
    # The workers that are kept at the end of an epoch.
    return c.play(HELD[c.when], persistent=True) if c.workers else None


@_outage(
    "fetched once", needs=("samples",),
    shape=((EPOCHS_COUNTED - 1, 2),), where=("fresh", "resumed"), tail=("keep",),
)  # fmt: skip
def _fetched_once(c: Cell) -> Case:
    counted = drains(EPOCHS_COUNTED)
    if c.where == "fresh":
        return c.play(counted, c.workload(EPOCHS_COUNTED, log="auto"))
    workload = c.workload(EPOCHS_COUNTED + 1, log="auto")
    return c.play(f"drain, take 1, save s | load s, {counted}", workload)
