"""The families of the published orders and seeds (reads the published vectors; pure)."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import GOES_ON, Cell, family
from midepoch_conformance.families.published.document import (
    ALONE,
    KINDS,
    ONE,
    SEEDS,
    document_at,
    loading,
    seeded,
)
from midepoch_conformance.verdict.format.published import (
    published_elements,
    vector,
    vectors,
)

__all__ = ["HUGE"]

HUGE = 10**12
"""The samples of a dataset whose order is too long to store."""

_format = partial(family, section="format", needs=("format",))


@_format(
    "order",
    bites=("a tail", "shuffled", "several epochs"),
    quick=("inline",),
    shape=(
        (13, 4),
        (16, 1),
        (5000, 250),
        (4096, 256),
        (4097, 256),
        (1, 1),
        (2, 1),
        (97, 5),
        (17000, 16999),
    ),
    kind=("map",),
    seed=SEEDS,
    tail=("keep",),
)
def _order(c: Cell) -> Case | None:
    if not c.shuffle or (c.workers and c.shape not in ((13, 4), (5000, 250))):
        return None
    return c.play("save a, drain, save b, drain, take 1, save c", seeded(c, 0))


# A state counts up to 2^53 - 1 samples (FIELD-2), so no position of a longer order can be loaded.
_ORDERS = tuple(
    v.name for v in vectors("order") if "orders" in v.data and 0 < int(v.data["n"]) < 2**53
)


@_format("published order", (False,), bites=("shuffled",), vector=_ORDERS, **ALONE)
def _published_order(c: Cell) -> Case:
    """Play a published order: of the key of epoch 0 under the root seed 0."""
    n = int(vector("order", c.vector).data["n"])
    workload = Workload(n=n, batch_size=1, epochs=0, shuffle=True, seed=0)
    steps: list[str] = []
    for position, elements in published_elements(c.vector):
        loaded = loading(f"{c.vector} at {position}", document_at(workload, 0, position))
        steps += [loaded, f"take {len(elements)}", "break"]
    return c.play(", ".join(steps), workload, lanes=0)


@_format(
    "published epochs", (False,), bites=("a tail dropped", "less than a batch"),
    vector=tuple(v.name for v in vectors("epochs") if v.data["length"] != "0"), **ALONE,
)  # fmt: skip
def _published_epochs(c: Cell) -> Case:
    data = vector("epochs", c.vector).data
    workload = Workload(
        n=int(data["length"]), batch_size=data["batch_size"], epochs=0, shuffle=True,
        seed=int(data["root"]), tail=data["tail"],
    )  # fmt: skip
    steps: list[str] = []
    for epoch in data["epochs"]:
        number, count = epoch["epoch"], len(epoch["batches"])
        steps.append(loading(f"epoch {number}", document_at(workload, number, 0)))
        steps.append("drain" if count == int(epoch["count"]) else f"take {count}, break")
    return c.play(", ".join(steps), workload, lanes=0)


@_format("two orders", (False,), bites=("shuffled",), shape=ONE, kind=("map",), tail=("keep",))
def _two_orders(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    return c.play("drain | [n=5000 batch_size=4999] drain", seeded(c, 0))


@_format(
    "far position",
    bites=("shuffled",),
    quick=("inline",),
    shape=((HUGE, 4),),
    kind=("map",),
    tail=("keep",),
)
def _far(c: Cell) -> Case | None:
    if not c.shuffle:
        return None
    workload = seeded(c, 0)
    far = loading("far", document_at(workload, 1, HUGE // 8 + 1))
    return c.play(f"take 2 | [lanes=0] {far}, take 2", workload)


@_format(
    "seeds",
    bites=("draws", "an error", "several epochs", "workers"),
    shape=ONE,
    kind=KINDS,
    seed=SEEDS,
    sample=(None, 6),
    tail=("keep",),
)
def _seeds(c: Cell) -> Case | None:
    w = dataclasses.replace(seeded(c, 0), draws=("python", "numpy", "torch"))
    if c.sample is None:
        return c.play("drain, drain", w)
    if c.shuffle:
        return None  # the ids would not tell which batch failed
    w = dataclasses.replace(w, fail_at=c.sample, stream="plain" if c.kind == "map" else GOES_ON)
    # Up to the error, and on from there.
    return c.play("drain?, drain?, drain?, drain?", w)


@_format(
    "seeds elsewhere",
    bites=("draws", "a user's sampler", "more lanes than workers"),
    shape=ONE,
    kind=("iterable", "map"),
    seed=SEEDS,
    where=("lane", "worker", "sampler"),
    persistent=(False, True),
    tail=("keep",),
)
def _seeds_elsewhere(c: Cell) -> Case | None:
    """Draw when a lane begins an epoch, when its dataset is set up, or in a sampler."""
    if c.kind == ("iterable" if c.where == "sampler" else "map" if c.where == "lane" else ""):
        return None
    if c.shuffle or (c.persistent and not (c.workers and c.where == "worker")):
        return None
    streams = ("python", "numpy", "torch")
    fields: dict[str, dict[str, Any]] = {
        "lane": {"stream": "begun", "draws": streams},
        "worker": {"stream": "set up", "draws": streams},
        "sampler": {"sampler": "drawn", "draws": streams},
    }
    workload = dataclasses.replace(seeded(c, 0), **fields[c.where])
    return c.play(
        "drain, drain, drain", workload, lanes=0 if c.where == "sampler" else c.workers or 2
    )


@_format(
    "private streams",
    bites=("draws", "a replay from the beginning", "workers"),
    shape=ONE,
    kind=KINDS,
    seed=SEEDS,
    tail=("keep",),
)
def _private_streams(c: Cell) -> Case:
    then = "thread" if c.workers else "process"
    sessions = f"take 2, save s | [worker_kind={then}] load s, drain, drain"
    return c.play(sessions, dataclasses.replace(seeded(c, 2), draws=("own",)))


@_format(
    "caller streams",
    (False,),
    bites=("draws", "a replay from the beginning"),
    shape=ONE,
    kind=KINDS,
    tail=("keep",),
)
def _caller_streams(c: Cell) -> Case:
    workload = dataclasses.replace(c.workload(2), draws=("python", "numpy", "torch"))
    return c.play("take 2, save s, drain, drain | load s, drain, drain", workload)
