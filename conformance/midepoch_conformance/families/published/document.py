"""The families for implementers of midepoch's own format (reads the published vectors)."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import GOES_ON, ITERABLES, Cell, drains, family
from midepoch_conformance.verdict.format.published import (
    Vector,
    resume,
    vector,
    vectors,
)

__all__ = ["ALONE", "KINDS", "ONE", "SEEDS", "document_at", "loading", "seeded"]

KINDS = ("map", *ITERABLES)
ONE = ((13, 4),)
SEEDS = (3, 2**64 - 1)

CHUNK = 48
"""The number of invalid states that one case loads, one after the other."""

PLANS = {
    "batch size": "batch_size=7",
    "length": "n=29",
    "order": "shuffle=false",
    "seed": "seed=741852",
    "tail": "tail=drop",
    "data": "data=second",
    "all": "n=29 batch_size=7 tail=drop seed=741852 data=second",
}
REJECTED = {
    "invalid state": frozenset({"DOC-1", "REFUSE-1", "SEED-5", "DOC-14", "DOC-12"}),
    "unknown field": frozenset({"DOC-7"}),
    "other version": frozenset({"DOC-8", "DOC-17"}),
}
"""The requirements whose vectors of invalid states each family loads."""

_format = partial(family, section="format", needs=("format",))


# The document.


@_format(
    "document",
    bites=("shuffled", "workers", "no workers"),
    shape=ONE,
    kind=KINDS,
    seed=SEEDS,
    tail=("keep",),
)
def _document(c: Cell) -> Case:
    first = "save a codec=json, take 2, save b codec=json, take all, save c codec=json"
    return c.play(f"{first}, drain, save d codec=json, take 1, save e codec=json", seeded(c, 2))


@_format(
    "document layout",
    (True,),
    bites=("more lanes than workers", "persistent workers"),
    shape=ONE,
    kind=KINDS,
    counts=((2, 0), (3, 1)),
    tail=("keep",),
)
def _layout(c: Cell) -> Case:
    before, after = c.counts
    # The lifetime belongs to the plan: lanes outlive an epoch without workers.
    lasting = f"workers={after} persistent={'true' if after else 'false'}"
    first = "save a0, take 2, save b0, drain, save c0"
    second = f"[{lasting}] save a1, take 2, save b1, drain, save c1"
    return c.play(f"{first} | {second}", workers=before, lanes=before, persistent=True)


@_format(
    "document tree",
    bites=("a tail",),
    quick=("inline",),
    shape=ONE,
    kind=("stateful_iterable",),
    tail=("keep",),
    codec=("json", "pickle"),
)
def _tree(c: Cell) -> Case:
    return c.play(f"take 2, save s codec={c.codec} | load s, drain", c.workload(tree="plain"))


ORDERS: dict[str, dict[str, Any]] = {
    "": {},
    "unbatched": {"batch_size": 0},
    "custom": {"sampler": "custom"},
    "custom unbatched": {"sampler": "custom", "batch_size": 0},
    "stateful": {"sampler": "stateful"},
    "batches": {"sampler": "batches"},
}
"""The orders of a dataset, and how they are batched."""


@_format(
    "document position",
    bites=("saved after a broken epoch", "a user's sampler", "a window beyond the end"),
    section="positions",
    shape=ONE,
    kind=(*KINDS, "stateful_map"),
    tail=("keep", "drop"),
    order=tuple(ORDERS),
)
def _position(c: Cell) -> Case | None:
    """Take states at all moments of epochs, in a fresh run and after a load."""
    fields = ORDERS[c.order]
    if "sampler" in fields and (c.shuffle or c.kind in ITERABLES):
        return None
    if not fields.get("batch_size", 1) and c.tail == "drop":
        return None  # no batch is incomplete
    w = dataclasses.replace(c.workload(4), **fields)
    first = "take 2, save a, drain, save b, take 1, break, save c, take 1, save d"
    return c.play(f"{first} | load d, save e, take 1, save f, take all, save g, drain, save h", w)


BEFORE = {"start": "", "mid": "take 2", "end": "take all", "later": "drain, take 1"}
"""The deliveries before a state is taken."""


@_format(
    "document reload",
    bites=("a replay from the beginning", "saved again"),
    quick=("inline",),
    shape=ONE,
    kind=KINDS,
    where=tuple(BEFORE),
)
def _reload(c: Cell) -> Case:
    return c.play(f"{BEFORE[c.where]}, save s codec=json | load s, save t codec=json")


@_format(
    "document reload of ranks",
    (False,),
    bites=("several ranks", "more lanes than workers", "a tail dropped"),
    shape=((21, 2),),
    kind=("stateful_map",),
    tail=("drop",),
    position=(2, 5),
)
def _reload_of_ranks(c: Cell) -> Case:
    """Load a rank's own state again, that after its last batch too: two ranks have five each."""
    steps = f"take {c.position}, save s codec=json | load s, save t codec=json"
    return c.play(steps, c.workload(ranks="dealt"), lanes=4, world=2, rank=1)


@_format(
    "document reload of sharing ranks",
    (False,),
    bites=("several ranks", "a tail"),
    shape=((9, 4),),
    kind=("map",),
    tail=("keep",),
    position=(1, 3),
)
def _reload_of_sharing_ranks(c: Cell) -> Case:
    """The same where ranks share each batch, after a last step that was filled up, too."""
    steps = f"take {c.position}, save s codec=json | load s, save t codec=json"
    return c.play(steps, c.workload(ranks="shared"), world=2, rank=1)


@_format(
    "document reload after an error",
    bites=("an error", "an interval longer than the epoch"),
    quick=("inline",),
    shape=((13, 2),),
    kind=("stateful_map", "stateful_iterable", "map", "iterable"),
    tail=("keep",),
    by=("collate_fn", "dataset"),
)
def _reload_after_an_error(c: Cell) -> Case:
    """Load a state from after an error that a replay meets again, or does not."""
    steps = "drain?, save s codec=json | load s, save t codec=json, take 1?"
    stream = GOES_ON if c.by == "dataset" and c.kind in ITERABLES else "plain"
    return c.play(steps, c.workload(fail_at=3, fails_in=c.by, stream=stream), interval=100)


@_format(
    "document end", bites=("a tail", "a tail dropped", "a user's sampler", "workers"),
    shape=ONE, kind=(*KINDS, "stateful_map"), tail=("keep", "drop"), epoch=(0, 1, 2),
    order=("", "stateful"),
)  # fmt: skip
def _end(c: Cell) -> Case | None:
    if c.order and (c.shuffle or c.kind != "map"):
        return None  # a user's sampler takes the place of the loader's own
    if c.workers and not c.order:
        return None  # workers ask ahead, and so use a sampler's pass up
    sessions = f"{drains(c.epoch)}, take all, save s | load s, drain, drain"
    w = c.workload(c.epoch + 2, sampler=c.order)
    # After a last batch that is full, a sampler has not ended yet.
    return c.play(sessions, dataclasses.replace(w, n=12) if c.order else w)


@family(
    "asked beyond the end",
    (True,),
    bites=("several epochs", "workers"),
    section="positions",
    needs=("format",),
    shape=ONE,
    kind=("map",),
    tail=("keep",),
    epoch=(0, 1),
)
def _asked_beyond(c: Cell) -> Case:
    """Workers ask a sampler ahead; after a short last batch it has ended."""
    sessions = f"{drains(c.epoch)}, take all, save s | load s, drain, drain"
    return c.play(sessions, c.workload(c.epoch + 2, sampler="stateful"))


@_format(
    "document plan",
    bites=("a tail dropped", "shuffled"),
    quick=("inline",),
    shape=ONE,
    kind=("map",),
    plan=tuple(PLANS),
    tail=("keep",),
)
def _plan(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    w = c.workload(1, data="first")
    return c.play(f"take 2, save s | [{PLANS[c.plan]}] load s, drain", w)


@_format(
    "document plan unnamed",
    bites=("shuffled",),
    quick=("inline",),
    shape=ONE,
    kind=("map",),
    tail=("keep",),
)
def _plan_unnamed(c: Cell) -> Case | None:
    """Go on from a state that names no data: the next state names the loader's."""
    if not c.shuffle:
        return None
    w = c.workload(1, data="first")
    begun = loading("without data", document_at(w, 0, 0))
    return c.play(f"{begun}, take 1, save s | [{PLANS['data']}] load s, drain", w, lanes=0)


@_format(
    "document refused",
    bites=("several epochs",),
    quick=("inline",),
    shape=ONE,
    kind=KINDS,
    value=("none", "foreign", "cut"),
    tail=("keep",),
)
def _refused(c: Cell) -> Case:
    refused = "save s, load_cut s 1?" if c.value == "cut" else f"load_bogus {c.value}?"
    return c.play(f"take 1, {refused}, take 1, save t, drain, drain")


# The published vectors.


def _invalid(c: Cell) -> Case | None:
    groups: dict[str, list[Vector]] = {}
    for v in vectors("invalid"):
        if v.requirement not in REJECTED[c.family]:
            continue
        workload = _of_plan(v) if v.error == "PlanMismatchError" else _ANY
        lanes = v.plan["lanes"] if workload != _ANY else 0
        key = json.dumps([dataclasses.asdict(workload), lanes], sort_keys=True)
        groups.setdefault(key, []).append(v)
    chunks = [
        (group[0] if group[0].error == "PlanMismatchError" else None, group[i : i + CHUNK])
        for group in groups.values()
        for i in range(0, len(group), CHUNK)
    ]
    if c.chunk >= len(chunks):
        return None
    shown, chunk = chunks[c.chunk]
    workload = _ANY if shown is None else _of_plan(shown)
    lanes = 0 if shown is None else shown.plan["lanes"]
    return c.play(", ".join(f"{loading(v.name, v.text)}?" for v in chunk), workload, lanes=lanes)


def loading(name: str, document: str) -> str:
    """Return the step that loads a document."""
    return f"load_document {json.dumps(name)} {json.dumps(document)}"


_ANY = Workload(n=10, batch_size=4, epochs=0, shuffle=True, seed=7)
ALONE: dict[str, Any] = {"kind": ("map",), "shuffle": (False,), "shape": ((10, 4),)}

_format(
    "invalid state",
    (False,),
    bites=("a user's sampler", "more lanes than workers"),
    chunk=tuple(range(16)),
    **ALONE,
)(_invalid)
_format("unknown field", (False,), bites=("shuffled",), chunk=(0, 1), **ALONE)(_invalid)
_format("other version", (False,), bites=("shuffled",), chunk=(0, 1), **ALONE)(_invalid)


@_format(
    "published resume",
    bites=(
        "draws",
        "a user's sampler",
        "a tail dropped",
        "less than a batch",
        "an empty dataset",
        "more lanes than workers",
    ),
    quick=("inline",),
    vector=tuple(v.name for folder in ("resumes", "users") for v in vectors(folder)),
    **ALONE,
)
def _published(c: Cell) -> Case | None:
    found = resume(c.vector)
    # A batch that raised is null: the same iterator goes on after it.
    epochs = ("drain?, " * epoch.count(None) + "drain" for epoch in found.data["epochs"])
    return _of_resume(c, found, f"save s codec=json, {', '.join(epochs)}")


@_format(
    "published mismatch",
    bites=("a user's sampler",),
    quick=("inline",),
    vector=tuple(v.name for v in vectors("mismatches")),
    **ALONE,
)
def _mismatch(c: Cell) -> Case | None:
    return _of_resume(c, vector("mismatches", c.vector), "take 1?")


def _of_resume(c: Cell, found: Vector, steps: str) -> Case | None:
    """Return the case that loads a published state, and then takes steps."""
    dataset = found.data["dataset"]
    kind, stream, state_at = _DATASETS[dataset["kind"]]
    given = found.data["loader"]
    workload = dataclasses.replace(
        _of_plan(found), kind=kind, stream=stream, state_at=state_at,
        n=dataset["length"], draws=PUBLISHED_DRAWS if dataset["draws"] else (),
        adopts="seed" not in given, checked="check" in given,
    )  # fmt: skip
    # An error is due with the first batch; the load may know it already.
    loaded = loading(found.name, found.text) + ("?" if found.error else "")
    return c.play(f"{loaded}, {steps}", workload, lanes=given.get("lanes"))


PUBLISHED_DRAWS = ("python", "numpy", "torch double")
_DATASETS = {
    "map": ("map", "plain", "dataset"),
    "tally": ("stateful_map", "tally", "dataset"),
    "stream": ("iterable", "plain", "dataset"),
    "counter": ("stateful_iterable", "counter", "iterator"),
    "cursor": ("stateful_iterable", "cursor", "dataset"),
    "faulty": ("iterable", "faulty", "dataset"),
    "faulty-cursor": ("stateful_iterable", "faulty cursor", "dataset"),
}
"""The kind, the stream and the keeper of the state of each published dataset."""


def _of_plan(vector: Vector) -> Workload:
    """Return the workload whose loader has a vector's plan."""
    plan = vector.plan
    return Workload(
        kind="map" if plan["dataset"] == "map" else "iterable",
        n=plan["length"] if plan["length"] is not None else 10,
        batch_size=plan["batch_size"] or 0,
        epochs=0,
        shuffle=plan["sampler"] == "shuffle",
        seed=int(plan["seed"]),
        tail=plan["tail"],
        data=plan["data"] or "",
        sampler=plan["sampler_name"].lower() if plan["sampler"] == "custom" else "",
    )


def seeded(c: Cell, epochs: int) -> Workload:
    """Return the cell's workload, with the cell's seed."""
    seed = c.values.get("seed", SEEDS[0])
    return dataclasses.replace(c.workload(epochs), seed=seed)


def document_at(w: Workload, epoch: int, batches: int) -> str:
    """Return the document of a state after so many batches of an epoch."""
    plan = {
        "dataset": "map",
        "length": w.n,
        "sampler": "shuffle",
        "sampler_name": None,
        "seed": str(w.seed),
        "batch_size": w.batch_size,
        "tail": w.tail,
        "lanes": 0,
        "lifetime": "run",
        "data": None,
        "options": {},
    }
    position: dict[str, Any] = {
        "epoch": epoch,
        "batches": batches,
        "samples": batches * w.batch_size,
        "digest": None,
        "ahead": [],
        "carried": None,
        "share": None,
    }
    document = {
        "format": "midepoch.state",
        "version": 1,
        "plan": plan,
        "position": position,
        "sampler": None,
        "lanes": None,
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"))
