"""The families for implementers of midepoch's own format (reads the published vectors)."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import Any

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import (
    GOES_ON,
    ITERABLES,
    Cell,
    family,
    load,
    save,
    take,
)
from midepoch_conformance.families.family import (
    drain_steps as drains,
)
from midepoch_conformance.verdict.published import (
    Vector,
    published_elements,
    vector,
    vectors,
)

__all__ = ["HUGE"]

KINDS = ("map", *ITERABLES)
ONE = ((13, 4),)
SEEDS = (3, 2**64 - 1)
HUGE = 10**12
"""The samples of a dataset whose order is too long to store."""

CHUNK = 48
"""The number of invalid states that one case loads, one after the other."""

PLANS: dict[str, tuple[tuple[str, Any], ...]] = {
    "batch size": (("batch_size", 7),),
    "length": (("n", 29),),
    "order": (("shuffle", False),),
    "seed": (("seed", 741852),),
    "tail": (("tail", "drop"),),
    "all": (("n", 29), ("batch_size", 7), ("tail", "drop"), ("seed", 741852)),
}
REJECTED = {
    "invalid state": frozenset({"DOC-1", "REFUSE-1", "SEED-5", "DOC-14", "DOC-12"}),
    "unknown field": frozenset({"DOC-7"}),
    "other version": frozenset({"DOC-8"}),
}
"""The requirements whose vectors of invalid states each family loads."""

_format = partial(family, section="format", needs=("format",))


# The document.


@_format("document", shape=ONE, kind=KINDS, seed=SEEDS, tail=("keep",))
def _document(c: Cell) -> Case:
    steps = (
        *(save("a", "json"), take(2), save("b", "json"), take(-1), save("c", "json")),
        *(Step("drain"), save("d", "json"), take(1), save("e", "json")),
    )
    return c.case(_seeded(c, 2), c.session(0, *steps))


@_format("document layout", (True,), shape=ONE, kind=KINDS, counts=((2, 0), (3, 1)), tail=("keep",))
def _layout(c: Cell) -> Case:
    sessions = []
    for number, workers in enumerate(c.counts):
        names = [f"{letter}{number}" for letter in "abc"]
        steps = (save(names[0]), take(2), save(names[1]), Step("drain"), save(names[2]))
        # The lifetime belongs to the plan: lanes outlive an epoch without workers.
        lasting = {"lanes": c.counts[0], "persistent": workers > 0}
        sessions.append(c.session(number, *steps, workers=workers, **lasting))
    return c.case(c.workload(2), *sessions)


@_format("document tree", quick=("inline",), shape=ONE, kind=("stateful_iterable",), tail=("keep",))
def _tree(c: Cell) -> Case:
    first = c.session(0, take(2), save("s", "json"))
    return c.case(c.workload(2, tree="plain"), first, c.session(1, load("s"), *drains(1)))


@_format(
    "document reload",
    quick=("inline",),
    shape=ONE,
    kind=KINDS,
    where=("start", "mid", "end", "later"),
)
def _reload(c: Cell) -> Case:
    before = {
        "start": (),
        "mid": (take(2),),
        "end": (take(-1),),
        "later": (Step("drain"), take(1)),
    }[c.where]
    first = c.session(0, *before, save("s", "json"))
    return c.case(c.workload(2), first, c.session(1, load("s"), save("t", "json")))


@_format(
    "document end",
    shape=ONE, kind=(*KINDS, "stateful_map"), tail=("keep", "drop"), epoch=(0, 1, 2),
    order=("", "stateful"),
)  # fmt: skip
def _end(c: Cell) -> Case | None:
    if c.order and (c.shuffle or c.kind != "map"):
        return None  # a user's sampler takes the place of the loader's own
    if bool(c.order) is not bool(c.workers):
        return None  # workers ask ahead, and so use the sampler's pass up
    first = c.session(0, *drains(c.epoch), take(-1), save("s"))
    w = c.workload(c.epoch + 2, sampler=c.order)
    return c.case(w, first, c.session(1, load("s"), *drains(2)))


@_format(
    "document plan", quick=("inline",), shape=ONE, kind=("map",), plan=tuple(PLANS), tail=("keep",)
)
def _plan(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    first = c.session(0, take(2), save("s"))
    second = c.session(1, load("s"), *drains(1), workload=PLANS[c.plan])
    return c.case(c.workload(1), first, second)


@_format(
    "document refused",
    quick=("inline",),
    shape=ONE,
    kind=KINDS,
    value=("none", "foreign", "cut"),
    tail=("keep",),
)
def _refused(c: Cell) -> Case:
    refused = [Step("load_bogus", value=c.value, tolerate=True)]
    if c.value == "cut":
        refused = [save("s"), Step("load_cut", 1, state="s", tolerate=True)]
    steps = (take(1), *refused, take(1), save("t"), *drains(2))
    return c.case(c.workload(2), c.session(0, *steps))


# The published vectors.


def _invalid(c: Cell) -> Case | None:
    groups: dict[str, list[Vector]] = {}
    for v in (v for v in vectors("invalid") if v.requirement in REJECTED[c.family]):
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
    steps = [Step("load_document", value=v.name, document=v.text, tolerate=True) for v in chunk]
    return c.case(workload, c.session(0, *steps, lanes=lanes))


_ANY = Workload(n=10, batch_size=4, epochs=0, shuffle=True, seed=7)
_ALONE: dict[str, Any] = {"kind": ("map",), "shuffle": (False,), "shape": ((10, 4),)}

_format("invalid state", (False,), chunk=tuple(range(16)), **_ALONE)(_invalid)
_format("unknown field", (False,), chunk=(0, 1), **_ALONE)(_invalid)
_format("other version", (False,), chunk=(0, 1), **_ALONE)(_invalid)


@_format(
    "published resume",
    quick=("inline",),
    vector=tuple(v.name for v in vectors("resumes")),
    **_ALONE,
)
def _published(c: Cell) -> Case | None:
    found = vector("resumes", c.vector)
    dataset = found.data["dataset"]
    kind, stream, state_at = _DATASETS[dataset["kind"]]
    workload = dataclasses.replace(
        _of_plan(found), kind=kind, stream=stream, state_at=state_at,
        n=dataset["length"], draws=PUBLISHED_DRAWS if dataset["draws"] else (),
    )  # fmt: skip
    given = Step("load_document", value=found.name, document=found.text)
    steps = (given, save("s", "json"), *drains(len(found.data["epochs"])))
    return c.case(workload, c.session(0, *steps, lanes=found.plan["lanes"]))


PUBLISHED_DRAWS = ("python", "numpy", "torch double")
_DATASETS = {
    "map": ("map", "plain", "dataset"),
    "tally": ("stateful_map", "tally", "dataset"),
    "stream": ("iterable", "plain", "dataset"),
    "counter": ("stateful_iterable", "counter", "iterator"),
    "cursor": ("stateful_iterable", "cursor", "dataset"),
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
        seed=plan["seed"],
        tail=plan["tail"],
        sampler=plan["sampler_name"].lower() if plan["sampler"] == "custom" else "",
    )


# The order and the seeds.


@_format(
    "order",
    quick=("inline",),
    shape=((13, 4), (16, 1), (5000, 250), (4096, 256), (4097, 256), (1, 1), (2, 1), (97, 5)),
    kind=("map",),
    seed=SEEDS,
    tail=("keep",),
)
def _order(c: Cell) -> Case | None:
    if not c.shuffle or (c.workers and c.shape not in ((13, 4), (5000, 250))):
        return None
    steps = (save("a"), Step("drain"), save("b"), Step("drain"), take(1), save("c"))
    return c.case(_seeded(c, 0), c.session(0, *steps))


@_format(
    "published order", (False,),
    vector=tuple(v.name for v in vectors("order") if "orders" in v.data and v.data["n"] != "0"),
    **_ALONE,
)  # fmt: skip
def _published_order(c: Cell) -> Case:
    """Play a published order: of the key of epoch 0 under the root seed 0."""
    n = int(vector("order", c.vector).data["n"])
    workload = Workload(n=n, batch_size=1, epochs=0, shuffle=True, seed=0)
    steps: list[Step] = []
    for position, elements in published_elements(c.vector):
        document = _document_at(workload, 0, position)
        steps += [Step("load_document", value=f"{c.vector} at {position}", document=document)]
        steps += [take(len(elements)), Step("break")]
    return c.case(workload, c.session(0, *steps, lanes=0))


@_format(
    "published epochs", (False,),
    vector=tuple(v.name for v in vectors("epochs") if v.data["length"] != "0"), **_ALONE,
)  # fmt: skip
def _published_epochs(c: Cell) -> Case:
    data = vector("epochs", c.vector).data
    workload = Workload(
        n=int(data["length"]), batch_size=data["batch_size"], epochs=0, shuffle=True,
        seed=int(data["root"]), tail=data["tail"],
    )  # fmt: skip
    steps: list[Step] = []
    for epoch in data["epochs"]:
        document = _document_at(workload, epoch["epoch"], 0)
        steps += [Step("load_document", value=f"epoch {epoch['epoch']}", document=document)]
        whole = len(epoch["batches"]) == int(epoch["count"])
        steps += drains(1) if whole else (take(len(epoch["batches"])), Step("break"))
    return c.case(workload, c.session(0, *steps, lanes=0))


@_format("two orders", (False,), shape=ONE, kind=("map",), tail=("keep",))
def _two_orders(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    large = c.session(1, Step("drain"), workload=(("n", 5000), ("batch_size", 250)))
    return c.case(_seeded(c, 0), c.session(0, Step("drain")), large)


@_format("far position", quick=("inline",), shape=((HUGE, 4),), kind=("map",), tail=("keep",))
def _far(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    workload = _seeded(c, 0)
    far = Step("load_document", value="far", document=_document_at(workload, 1, HUGE // 8 + 1))
    return c.case(workload, c.session(0, take(2)), c.session(1, far, take(2), lanes=0))


@_format("seeds", shape=ONE, kind=KINDS, seed=SEEDS, sample=(None, 6), tail=("keep",))
def _seeds(c: Cell) -> Case | None:
    w = dataclasses.replace(_seeded(c, 0), draws=("python", "numpy", "torch"))
    if c.sample is None:
        return c.case(w, c.session(0, *drains(2)))
    if c.shuffle:
        return None  # the ids would not tell which batch failed
    w = dataclasses.replace(w, fail_at=c.sample, stream="plain" if c.kind == "map" else GOES_ON)
    on = Step("drain", tolerate=True)  # up to the error, and on from there
    return c.case(w, c.session(0, on, on, on, on))


@_format(
    "seeds elsewhere", shape=ONE, kind=("iterable", "map"), seed=SEEDS,
    where=("lane", "worker", "sampler"), tail=("keep",),
)  # fmt: skip
def _seeds_elsewhere(c: Cell) -> Case | None:
    """Draw when a lane begins an epoch, when its dataset is set up, or in a sampler."""
    if (c.where == "sampler") is not (c.kind == "map") or c.shuffle:
        return None
    streams = ("python", "numpy", "torch")
    fields: dict[str, dict[str, Any]] = {
        "lane": {"stream": "begun", "draws": streams},
        "worker": {"stream": "set up", "draws": streams},
        "sampler": {"sampler": "drawn"},
    }
    workload = dataclasses.replace(_seeded(c, 0), **fields[c.where])
    lanes = c.workers or 2
    return c.case(workload, c.session(0, *drains(3), lanes=0 if c.kind == "map" else lanes))


@_format("private streams", shape=ONE, kind=KINDS, seed=SEEDS, then=(False, True), tail=("keep",))
def _private_streams(c: Cell) -> Case | None:
    if c.then and not c.workers:
        return None
    workload = dataclasses.replace(_seeded(c, 2), draws=("own",))
    first = c.session(0, take(2), save("s"))
    second = c.session(1, load("s"), *drains(2), worker_kind="thread" if c.then else "process")
    return c.case(workload, first, second)


@_format("caller streams", (False,), shape=ONE, kind=KINDS, tail=("keep",))
def _caller_streams(c: Cell) -> Case:
    workload = dataclasses.replace(c.workload(2), draws=("python", "numpy", "torch"))
    first = c.session(0, take(2), save("s"), *drains(2))
    return c.case(workload, first, c.session(1, load("s"), *drains(2)))


def _seeded(c: Cell, epochs: int) -> Workload:
    seed = c.values.get("seed", SEEDS[0])
    return dataclasses.replace(c.workload(epochs), seed=seed)


def _document_at(w: Workload, epoch: int, batches: int) -> str:
    plan = {
        "dataset": "map",
        "length": _number(w.n),
        "sampler": "shuffle",
        "sampler_name": None,
        "seed": _number(w.seed),
        "batch_size": w.batch_size,
        "tail": w.tail,
        "lanes": 0,
        "lifetime": "run",
    }
    position: dict[str, Any] = {
        "epoch": epoch,
        "batches": _number(batches),
        "samples": _number(batches * w.batch_size),
        "digest": None,
        "ahead": [],
        "carried": None,
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


def _number(value: int) -> Any:
    """Return an integer in the canonical form."""
    return value if value < 2**53 else {"$int": str(value)}
