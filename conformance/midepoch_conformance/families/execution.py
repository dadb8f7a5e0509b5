"""The families that change the execution, and those that draw random numbers (pure)."""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import AMBIENT_DRAWS
from midepoch_conformance.families.basics import USUAL
from midepoch_conformance.families.family import CUTS, ITERABLES, Cell, drains, family

__all__ = ["CHANGES", "WORKER_PAIRS"]

WORKER_PAIRS = (
    (3, 0), (3, 1), (3, 2), (3, 5), (2, 0), (2, 1), (2, 3), (1, 0), (1, 3), (0, 2),
)  # fmt: skip
"""Worker counts before and after the change; the plan has as many lanes as the first."""

CHANGES = {
    "prefetch": ("", "prefetch=4"),
    "persistent": ("", "persistent=true"),
    "not persistent": ("persistent=true", ""),
    "spawn": ("", "start_method=spawn"),
    "forkserver": ("", "start_method=forkserver"),
    "from spawn": ("start_method=spawn", "start_method=forkserver"),
    "interval": ("", "interval=3"),
    "from an interval": ("interval=3", ""),
    "long interval": ("", "interval=100"),
    "threads": ("", "worker_kind=thread"),
    "from threads": ("worker_kind=thread", ""),
    "several": (
        "prefetch=1 persistent=true interval=2",
        "prefetch=4 persistent=false interval=3",
    ),
    "everything": (
        "prefetch=4 persistent=false interval=3 worker_kind=thread",
        "prefetch=1 persistent=true interval=2 start_method=forkserver",
    ),
}
"""The changes of the cell's execution in the run before, and in the run after."""

_BACKWARDS = ("from an interval", "from threads", "not persistent", "from spawn")
"""The changes that make no difference beside others between two runs without a resume."""

_of_execution = partial(family, section="execution")


@_of_execution(
    "interval",
    bites=("off the interval", "an interval longer than the epoch"),
    quick=("kinds", "drawn"),
    shape=((16, 1), (13, 4)),
    interval=(2, 3, 100),
    position=(1, 2, 3),
)
def _interval(c: Cell) -> Case:
    return c.play(f"take {c.position}, save s | load s, drain, drain")


# Each count is compared with no workers: counts that equal the same run equal each other.
@_of_execution(
    "workers",
    (True,),
    bites=("more lanes than workers", "workers", "no workers"),
    needs=("fixed plan",),
    quick=("kinds",),
    shape=USUAL,
    pair=tuple(pair for pair in WORKER_PAIRS if 0 in pair),
)
def _workers(c: Cell) -> Case:
    before, after = c.pair
    if c.kind == "stateful_map":  # it lives on without workers, and with those that persist
        sessions = f"| [workers={after} persistent={'true' if after else 'false'} ambient=1]"
        execution = {"workers": before, "persistent": bool(before), "lanes": before or after}
        return c.play(f"{sessions} drain, drain", **execution)
    sessions = f"| [workers={after} ambient=1] drain, drain"
    return c.play(sessions, workers=before, lanes=before or after)


@_of_execution(
    "execution",
    bites=("an interval", "persistent workers", "a prefetch of its own"),
    shape=USUAL,
    change=tuple(CHANGES),
)
def _execution(c: Cell) -> Case | None:
    if c.change in _BACKWARDS and c.change != "from an interval":
        return None  # of two runs it makes no difference which one comes first
    before, after = CHANGES[c.change]
    if c.kind == "stateful_map" and "persistent" in before + after:
        return None  # it remembers for as long as its workers live
    return _changing(c, f"[{before}] | [{after} ambient=1] drain, drain")


@_of_execution(
    "elastic",
    (True,),
    bites=("no workers than before",),
    needs=("fixed plan",),
    quick=("kinds",),
    shape=USUAL,
    pair=WORKER_PAIRS,
    cut=CUTS,
)
def _elastic(c: Cell) -> Case:
    return _resized(c)


@_of_execution(
    "elastic values",
    (True,),
    bites=(
        "draws",
        "more lanes than workers",
        "more workers than before",
        "no workers than before",
    ),
    needs=("samples", "fixed plan"),
    shape=USUAL,
    pair=WORKER_PAIRS,
    draw=AMBIENT_DRAWS,
    cut=("half",),
)
def _elastic_values(c: Cell) -> Case:
    return _resized(c, c.draw)


def _resized(c: Cell, *draws: str) -> Case:
    before, after = c.pair
    sessions = f"take {c.at}, save s | [workers={after}] load s, drain, drain"
    return c.play(sessions, c.workload(draws=draws), workers=before, lanes=before or after)


@_of_execution(
    "changed workers",
    (True,),
    bites=("more workers than before", "fewer workers than before"),
    needs=("samples",),
    quick=("kinds",),
    shape=USUAL,
    pair=WORKER_PAIRS,
    cut=("one", "half"),
)
def _changed_workers(c: Cell) -> Case:
    before, after = c.pair
    sessions = f"take {c.at}, save s | [workers={after}] load s, drain, drain"
    return c.play(sessions, workers=before, lanes=None)


@_of_execution(
    "changed execution",
    quick=("drawn",),
    bites=tuple(f"another {n} than before" for n in ("interval", "prefetch", "worker_kind")),
    shape=USUAL,
    change=tuple(CHANGES),
    epoch=(0, 1),
)
def _changed_execution(c: Cell) -> Case | None:
    before, after = CHANGES[c.change]
    saved = f"[{before}] {drains(c.epoch)}, take 2, save s"
    return _changing(c, f"{saved} | [{after}] load s, drain, drain")


def _changing(c: Cell, sessions: str) -> Case | None:
    """Return the case of a change, or None if its executions do the same."""
    if not c.workers and "interval" not in c.change:
        return None  # without workers, nothing else can change
    case = c.play(sessions)
    return None if case.sessions[0].execution == case.sessions[-1].execution else case


@_of_execution(
    "own values",
    bites=("draws", "workers", "no workers"),
    quick=("drawn",),
    needs=("samples",),
    shape=USUAL,
    epoch=(0, 1),
    cut=("one", "half"),
)
def _own_values(c: Cell) -> Case:
    return _values(c, "own")


@_of_execution(
    "thread values",
    (True,),
    bites=("draws", "another worker_kind than before"),
    needs=("samples",),
    shape=USUAL,
    kind=("map", *ITERABLES),
    then=(True, False),
    epoch=(0, 1),
    cut=("half",),
    tail=("keep",),
)
def _thread_values(c: Cell) -> Case:
    """Resume in threads a state that was saved in processes, or the other way round."""
    return _values(c, "own", *CHANGES["threads" if c.then else "from threads"])


# Of many samples, some would share a seed of few bits.
@_of_execution(
    "own streams",
    bites=("draws", "several epochs", "workers"),
    needs=("samples",),
    shape=(*USUAL, (1500, 50)),
)
def _own_streams(c: Cell) -> Case:
    return c.play("drain, drain", c.workload(draws=("own",)))


@_of_execution(
    "ambient values",
    bites=("draws", "workers", "no workers"),
    quick=("drawn",),
    needs=("samples",),
    shape=USUAL,
    draw=AMBIENT_DRAWS,
    epoch=(0, 1),
    cut=("one", "half"),
)
def _ambient_values(c: Cell) -> Case:
    return _values(c, c.draw)


@_of_execution(
    "ambient streams",
    bites=("draws", "workers", "no workers"),
    quick=("drawn",),
    needs=("samples",),
    shape=USUAL,
    draw=AMBIENT_DRAWS,
)
def _ambient_streams(c: Cell) -> Case:
    return c.play("drain, drain", c.workload(draws=(c.draw,)))


def _values(c: Cell, draw: str, before: str = "", after: str = "") -> Case:
    saved = f"[{before}] {drains(c.epoch)}, take {c.at}, save s"
    resumed = f"[{after}] load s, {drains(2 - c.epoch)}"
    return c.play(f"{saved} | {resumed}", c.workload(draws=(draw,)))


PAYLOADS = ("containers", "arrays", "tensors", "values", "objects")


@family(
    "payloads",
    (True,),
    bites=("more lanes than workers", "workers", "no workers"),
    section="extremes",
    needs=("fixed plan",),
    shape=((13, 4),),
    kind=("map", "iterable"),
    payload=PAYLOADS,
    pair=((3, 0),),
    tail=("keep",),
)
def _payloads(c: Cell) -> Case:
    """Send all that a sample may hold from a worker."""
    before, after = c.pair
    w = c.workload(1, payload=c.payload)
    return c.play(f"| [workers={after} ambient=1] drain", w, workers=before, lanes=before)


@family(
    "healed persistent",
    (True,),
    bites=("a lost worker", "persistent workers", "a full window"),
    section="extremes",
    needs=("samples",),
    shape=((13, 1),),
    kind=("stateful_map",),
    tail=("keep",),
)
def _healed_persistent(c: Cell) -> Case:
    """Let a worker die in its first batch of an epoch that its lanes went on into."""
    # Sample 0 was delivered before the state: in the resumed run the next epoch fetches it.
    sessions = "[die_at=null] take 2, save s | load s, drain, drain"
    w = c.workload(die_at=0, die_once=True, log="auto")
    return c.play(sessions, w, restarts=2, persistent=True)


@family(
    "ambient start",
    section="drawn",
    bites=("draws", "a later epoch", "workers", "no workers"),
    needs=("samples", "format"),
    shape=((13, 4),),
    kind=("iterable",),
    epoch=(0, 1),
    cut=("half",),
    tail=("keep",),
)
def _ambient_start(c: Cell) -> Case:
    """The dataset draws where a pass begins, as streams do that shuffle their shards there.

    A loader offers draws of samples; that it seeds a pass, too, is promised by the format alone.
    """
    case = _values(c, "python")
    return dataclasses.replace(case, workload=dataclasses.replace(case.workload, stream="begun"))
