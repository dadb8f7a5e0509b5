"""The families of delivery: out of order, to several ranks, and into memory that is held (pure).

Out of order, batches come as they become ready. A gate holds one sample of the first batch until
another worker has begun a later batch, so batches do overtake each other. Nothing depends on
time: the case asks the same if no batch overtakes another.

Ranks are played one after the other. The execution tells the adapter its rank; the user's
distributed sampler decides the order of the samples.

Every family holds the batches that it delivered; the family of held batches writes into them.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.basics import ONES
from midepoch_conformance.families.family import LANED, Cell, chained, family

__all__ = ["GROUPS", "RESIZED", "SIZES", "WIDTHS", "WORLDS"]

_out_of_order = partial(family, section="unordered")
_of_ranks = partial(family, section="ranks")
_of_held = partial(family, section="held")


# Out of order.


SHAPES = ((13, 2),)
KINDS = ("map", "iterable", "stateful_iterable", "stateful_map")
SIZES = ((2, 0), (3, 2), (2, 3))
"""The worker counts before and after; the plan has as many lanes as workers before."""


@_out_of_order(
    "unordered",
    bites=(
        "fewer batches since the load than workers",
        "a full window",
        "a replay from the beginning",
    ),
    needs=("samples",),
    shape=SHAPES,
    kind=KINDS,
    links=(2, 1, 0),
    position=(1, 3),
    then=(False, True),
    tail=("keep",),
)
def _unordered(c: Cell) -> Case | None:
    """Play with any number of resumes; with ``then`` the last session is in order."""
    if c.then and not c.links:
        return None
    if c.links * c.position >= usual_length(c.workload(), c.execution()):
        return None
    sessions = chained(*[f"take {c.position}"] * c.links, "drain, drain")
    if c.then:  # the last session's bracket comes before its steps
        sessions = "| [in_order=true] ".join(sessions.rsplit("| ", 1))
    return _gated(c.play(sessions, in_order=False))


@_out_of_order(
    "unordered elastic",
    (True,),
    bites=("no workers than before",),
    needs=("samples", "fixed plan"),
    shape=SHAPES,
    kind=KINDS,
    sizes=SIZES,
    position=(3,),
    tail=("keep",),
)
def _elastic(c: Cell) -> Case:
    before, after = c.sizes
    sessions = f"take {c.position}, save s0 | [workers={after}] load s0, drain, drain"
    lanes = before if c.kind in LANED else None
    return _gated(c.play(sessions, in_order=False, workers=before, lanes=lanes))


@_out_of_order(
    "unordered caught up",
    (True,),
    bites=("workers",),
    needs=("samples",),
    shape=((26, 2),),
    kind=("map",),
    position=(4, 6),
    tail=("keep",),
)
def _caught_up(c: Cell) -> Case | None:
    """Save after several batches have overtaken the first one, and it has come."""
    if c.workers < 2 or c.shuffle:
        return None
    w = c.workload(log="auto", gate=(0, 10))
    steps = f"take {c.position}, save s0 | [gate=null] load s0, drain, drain"
    return c.play(steps, w, in_order=False)


def _gate(w: Workload, x: Execution, number: int) -> tuple[int, int] | None:
    """Return the gate that holds the first batch until another worker is batches ahead.

    In order there is none, as no batch may overtake another.
    """
    if x.workers < 2 or w.shuffle or x.in_order:
        return None
    if w.kind in ("map", "stateful_map"):
        samples = range(w.n)[w.batch_size * (x.workers * (number + 1) + 1) :]
    else:
        samples = range(w.n)[1 :: x.lanes or x.workers][w.batch_size * (number + 1) :]
    return (0, samples[0]) if samples else None


def _gated(case: Case) -> Case:
    """Return the case with its gates; a session states its gate if the first has another."""
    w, plans = case.workload, case.sessions
    gates = [_gate(w, plan.execution, number) for number, plan in enumerate(plans)]
    if not any(gates):
        return case
    plans = tuple(
        dataclasses.replace(plan, workload=(("gate", gate),) if gate != gates[0] else ())
        for plan, gate in zip(plans, gates, strict=True)
    )
    w = dataclasses.replace(w, gate=gates[0], log="auto")
    return dataclasses.replace(case, workload=w, sessions=plans)


# Ranks.

WORLDS = (2, 3)
RESIZED = ((2, 1), (2, 4), (4, 2))
"""The numbers of ranks before and after; each of them divides the samples evenly."""


@_of_ranks(
    "ranks",
    bites=("several ranks", "shuffled", "workers"),
    shape=((13, 2), (12, 2)),
    kind=("map",),
    ranks=WORLDS,
    tail=("keep",),
)
def _ranks(c: Cell) -> Case:
    # Each rank continues after it has saved: its resume is compared with that run.
    saved = [f"[rank={r}] take 1, save s{r}, drain, drain" for r in range(c.ranks)]
    resumed = [f"[rank={r}] load s{r}, drain, drain" for r in range(c.ranks)]
    w = c.workload(sampler="distributed")
    return c.play(" | ".join([*saved, *resumed]), w, world=c.ranks)


@_of_ranks(
    "resized ranks",
    bites=("another number of ranks", "a full window"),
    shape=((16, 1),),
    kind=("map",),
    worlds=RESIZED,
    tail=("keep",),
)
def _resized_ranks(c: Cell) -> Case:
    before, after = c.worlds
    saved = [f"[rank={r} world={before}] take 1, save s{r}" for r in range(before)]
    # A new rank has no state of its own and takes that of the rank that it would have been.
    resumed = [f"[rank={r}] load s{r % before}, drain, drain" for r in range(after)]
    w = c.workload(1, sampler="distributed")
    return c.play(" | ".join([*saved, *resumed]), w, world=after)


# Ranks that share each batch. The first session is that of one rank alone.

SHARED = ((12, 4), (13, 4), (22, 8))
"""13 samples leave one for the last batch, which two and four ranks fill up."""


@_of_ranks(
    "shared ranks",
    bites=("another number of ranks", "a tail", "shuffled"),
    needs=("samples",),
    quick=("inline",),
    shape=SHARED,
    kind=("map",),
    ranks=(2, 4),
)
def _shared_ranks(c: Cell) -> Case:
    steps = "take 1, save s{r}, drain, drain"
    each = [f"[rank={r} world={c.ranks}] {steps.format(r=r)}" for r in range(c.ranks)]
    w = c.workload(ranks="shared")
    return c.play(" | ".join(["drain, drain", *each]), w)


@_of_ranks(
    "seeds of ranks",
    bites=("another number of ranks", "draws", "workers"),
    needs=("samples", "format"),
    shape=((13, 4),),
    kind=("map",),
    ranks=(2,),
    draws=(("own",), ("python", "numpy", "torch")),
    tail=("keep",),
)
def _seeds_of_ranks(c: Cell) -> Case:
    each = [f"[rank={r} world={c.ranks}] drain, drain" for r in range(c.ranks)]
    w = c.workload(ranks="shared", draws=c.draws)
    return c.play(" | ".join(["drain, drain", *each]), w)


@_of_ranks(
    "shared ranks resized",
    bites=("another number of ranks", "a tail", "loaded again"),
    needs=("samples",),
    quick=("inline",),
    shape=SHARED,
    kind=("map",),
    worlds=((2, 4), (4, 2), (1, 4), (4, 1)),
    position=(1, 2),
)
def _shared_ranks_resized(c: Cell) -> Case | None:
    before, after = c.worlds
    if c.position >= c.length:
        return None
    return _resized(c, before, after, c.workload(ranks="shared"))


@_of_ranks(
    "draws of ranks", bites=("another number of ranks", "draws", "workers"), needs=("samples",),
    shape=((12, 4),), kind=("map",), worlds=((4, 2), (1, 4)), tail=("keep",),
    draws=(("own",), ("python", "numpy", "torch")), resumed=(False, True),
)  # fmt: skip
def _draws_of_ranks(c: Cell) -> Case:
    """Every batch is full: what fills a last one up draws other numbers than the first time."""
    before, after = c.worlds
    return _resized(c, before, after, c.workload(ranks="shared", draws=c.draws))


def _resized(c: Cell, before: int, after: int, w: Workload) -> Case:
    """Let the last of the ranks before save a state, unless the cell is not resumed, and all ranks
    after load it."""
    save = f"[rank={before - 1} world={before}] take {c.position or 1}, save s"
    load = "drain, drain" if c.resumed is False else "load s, drain, drain"
    each = [f"[rank={r} world={after}] {load}" for r in range(after)]
    return c.play(" | ".join(["drain, drain", *([] if c.resumed is False else [save]), *each]), w)


_of_another_size = partial(
    _of_ranks, workers=(False,), needs=("samples",),
    shape=((13, 4), (12, 2)), kind=("map",), ranks=(2, 4),
)  # fmt: skip


@_of_another_size("ranks cut anew", bites=("another number of ranks", "a tail"))
def _ranks_cut_anew(c: Cell) -> Case:
    return _larger(c, "cut anew")


@_of_another_size("another global batch size", bites=("another number of ranks", "a tail"))
def _another_global_batch_size(c: Cell) -> Case:
    return _larger(c, "shared")


def _larger(c: Cell, way: str) -> Case:
    """Load into batches of twice the size: each rank keeps its size, and there are twice as many
    ranks."""
    save = f"[rank=0 world={c.ranks // 2}] take 1, save s"
    each = [f"[rank={r} world={c.ranks}] load s, drain" for r in range(c.ranks)]
    w = c.workload(1, ranks=way)
    case = c.play(" | ".join(["drain", save, *each]), w)
    larger = (("batch_size", 2 * w.batch_size),)
    plans = [dataclasses.replace(plan, workload=larger) for plan in case.sessions[2:]]
    return dataclasses.replace(case, sessions=(*case.sessions[:2], *plans))


# Ranks to which lanes are dealt. The first session is that of one rank alone.

LANES = 4

_of_lanes = partial(
    family, section="dealt", needs=("samples",),
    shape=((16, 2), (13, 2)), kind=LANED, tail=("keep",),
)  # fmt: skip
"""Of 13 samples of a stream three lanes have two batches, the last one incomplete, and one lane has
one. A map-style dataset has seven batches of them."""


@_of_lanes(
    "dealt ranks",
    bites=("another number of ranks", "more lanes than workers", "workers"),
    ranks=(2, 4),
)
def _dealt_ranks(c: Cell) -> Case:
    each = [f"[rank={r} world={c.ranks}] take 1, save s{r}, drain, drain" for r in range(c.ranks)]
    return c.play(" | ".join(["drain, drain", *each]), c.workload(ranks="dealt"), lanes=LANES)


@_of_lanes(
    "dealt ranks at an end",
    (False,),
    bites=("several ranks", "more lanes than workers", "a tail dropped"),
    shape=((21, 2),),
    kind=("stateful_map",),
    tail=("drop",),
)
def _dealt_ranks_at_an_end(c: Cell) -> Case:
    """Save after the last batch of a rank, its end not seen: of 21 samples, two ranks have five."""
    saved = [f"[rank={r}] take 5, save s{r}, drain, drain" for r in range(2)]
    resumed = [f"[rank={r}] load s{r}, drain, drain" for r in range(2)]
    w = c.workload(ranks="dealt")
    return c.play(" | ".join([*saved, *resumed]), w, lanes=LANES, world=2)


@_of_lanes(
    "merged ranks",
    bites=("another number of ranks", "more lanes than workers", "a tail", "workers"),
    worlds=((2, 1), (2, 2), (2, 4), (4, 2)),
    position=(1, 2),
)
def _merged_ranks(c: Cell) -> Case | None:
    before, after = c.worlds
    if c.position * before >= c.shape[0] // c.shape[1]:
        return None  # nothing of the epoch is left to all of them
    saved = [f"[rank={r} world={before}] take {c.position}, save s{r}" for r in range(before)]
    names = "/".join(f"s{r}" for r in range(before))
    load = f"load_merged {names}, drain, drain"
    resumed = [f"[rank={r} world={after}] {load}" for r in range(after)]
    sessions = " | ".join(["drain, drain", *saved, *resumed])
    return c.play(sessions, c.workload(ranks="dealt"), lanes=LANES)


@_of_lanes(
    "merged ranks at an end",
    (False,),
    bites=("several ranks", "more lanes than workers"),
    shape=((24, 2),),
    kind=("iterable", "stateful_iterable"),
)
def _merged_ranks_at_an_end(c: Cell) -> Case:
    """Merge the states of a rank whose lanes have ended and of one that goes on.

    The last of the four lanes has eight batches, and the others have two.
    """
    saved = ["[rank=0 world=2] take 4, save s0", "[rank=1 world=2] take 6, save s1"]
    sessions = ["drain, drain", *saved, "load_merged s0/s1, drain, drain"]
    return c.play(" | ".join(sessions), c.workload(ranks="dealt", stream="rising"), lanes=LANES)


# Ranks of a process group, which run at the same time: a session is all of them.

GROUPS = ((2, 1), (4, 2), (3, 4), (1, 3))
"""The numbers of ranks before and after."""

_of_groups = partial(family, workers=(False,), section="groups", needs=("samples",), worlds=GROUPS)


@_of_groups(
    "process group",
    bites=("another number of ranks", "a lost worker"),
    shape=((24, 12), (36, 12)),
    kind=("map",),
    then=(False, True),
)
def _process_group(c: Cell) -> Case | None:
    """Let ranks agree on a seed, and one rank alone go on from their state, as other ranks do.

    With ``then`` one of the ranks dies in between, while it makes the last sample. An order that
    nobody knows would not tell whether that one is left.
    """
    if c.then is c.shuffle:
        return None
    before, after = c.worlds
    steps = ["take 1, save s, drain, drain", "[world=1] load s, drain, drain"]
    steps += [f"[die_at={c.shape[0] - 1}] load s, drain?"] if c.then else []
    steps += [f"[world={after}] load s, drain, drain"]
    w = c.workload(ranks="shared", adopts=True)
    return c.play(" | ".join(steps), w, world=before, together=True)


@_of_groups(
    "uneven lanes in a group",
    bites=("another number of ranks", "more lanes than workers"),
    shape=((31, 1), (27, 2)),
    kind=("iterable",),
)
def _uneven_lanes(c: Cell) -> Case:
    """Twelve lanes are dealt, of which the first ones have a batch more than the others."""
    steps = f"take 1, save s, drain, drain | [world={c.worlds[1]}] load s, drain, drain"
    w, world = c.workload(ranks="dealt"), c.worlds[0]
    return c.play(steps, w, world=world, together=True, lanes=12)


# Held batches.

WIDTHS = (16384, 64)
"""The numbers in a row: a row has 128 KB, or half a KB."""


@_of_held(
    "written over",
    bites=("a full window", "workers", "no workers"),
    shape=ONES,
    kind=("map", "iterable", "stateful_iterable"),
    width=WIDTHS,
    then=(False, True),
    tail=("keep",),
)
def _written_over(c: Cell) -> Case:
    """Write into delivered batches; with ``then``, save a state after that and resume it.

    The epochs have many batches: a loader uses memory again only once it has enough of it.
    """
    saved = "save s, drain, drain | load s, take 1, overwrite" if c.then else ""
    return c.play(f"take 2, overwrite, {saved}, drain, drain", c.workload(width=c.width))
