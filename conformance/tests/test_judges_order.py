"""The judges of Order, against the published vectors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from written import fault, found, outcome, run

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Batch, Event
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.permutation import (
    derive_words,
    elements,
    key,
    streams,
    torch_float,
)
from midepoch_conformance.verdict.published import Vector, vector, vectors

# The order and the seeds, against the published vectors.

EPOCHS = vector("epochs", "7-13-4-keep").data
SHUFFLED = Workload(n=13, batch_size=4, shuffle=True, seed=7, epochs=0)
LARGE = vector("epochs", "12345-5000-7-keep").data


def rows(indices: list[list[str]]) -> list[Batch]:
    return [[[int(i)] for i in batch] for batch in indices]


def drained(*epochs: list[Batch]) -> list[Event]:
    return [
        Event(i, "drain", batches=epoch, ended=True, opened=True) for i, epoch in enumerate(epochs)
    ]


def ordered_case(workload: Workload) -> Case:
    return Case("order", workload, (SessionPlan(Execution(), (Step("drain"),) * 3),))


def published_epochs() -> list[list[Batch]]:
    known = {e["epoch"]: rows(e["batches"]) for e in EPOCHS["epochs"]}
    return [known[e] for e in (0, 1, 2)] if {0, 1, 2} <= set(known) else []


def test_small_orders() -> None:
    of = ordered_case(SHUFFLED)
    epochs = published_epochs() or [rows(EPOCHS["epochs"][0]["batches"])]
    good = run(of, drained(*epochs))
    assert outcome("ORDER-1", of, good) == ("pass", "")
    assert outcome("ORDER-3", of, good) == ("pass", "")
    assert found("ORDER-4", of, good) is None
    sequential: list[Batch] = [[[i] for i in range(at, min(at + 4, 13))] for at in range(0, 13, 4)]
    bad = run(of, drained(sequential))
    assert outcome("ORDER-3", of, bad) == ("fails silently", "reordered")
    assert outcome("ORDER-6", of, bad) == ("blocked", "")
    twice = run(of, drained([*epochs[0][:-1], epochs[0][0][:1]]))
    assert outcome("ORDER-1", of, twice) == ("fails silently", "repeated")


def test_each_epoch_has_its_own_key() -> None:
    of = ordered_case(SHUFFLED)
    epochs: list[list[Batch]] = [
        [
            [[i] for i in elements(13, key(7, e), range(at, min(at + 4, 13)))]
            for at in range(0, 13, 4)
        ]
        for e in range(3)
    ]
    assert epochs[0] == rows(EPOCHS["epochs"][0]["batches"])
    assert outcome("ORDER-6", of, run(of, drained(*epochs))) == ("pass", "")
    same = run(of, drained(epochs[0], epochs[0], epochs[0]))
    assert outcome("ORDER-6", of, same) == ("fails silently", "reordered")


def test_large_orders() -> None:
    w = Workload(n=5000, batch_size=7, shuffle=True, seed=12345, epochs=0)
    of = ordered_case(w)
    first = rows(LARGE["epochs"][0]["batches"][:3])
    assert outcome("ORDER-4", of, run(of, drained(first))) == ("pass", "")
    swapped = run(of, drained([first[1], first[0], first[2]]))
    assert outcome("ORDER-4", of, swapped) == ("fails silently", "reordered")


def test_two_wrong_orders_have_one_cause() -> None:
    small = rows(EPOCHS["epochs"][0]["batches"])
    plans = (
        SessionPlan(Execution(), (Step("drain"),)),
        SessionPlan(
            Execution(),
            (Step("drain"),),
            workload=(("n", 5000), ("batch_size", 7), ("seed", 12345)),
        ),
    )
    of = Case("two orders", SHUFFLED, plans)
    large = rows(LARGE["epochs"][0]["batches"][:3])
    assert outcome("ORDER-2", of, run(of, drained(small), drained(large))) == ("pass", "")
    one = run(of, drained(small[::-1]), drained(large))
    assert outcome("ORDER-2", of, one) == ("pass", "")
    both = run(of, drained(small[::-1]), drained(large[::-1]))
    assert outcome("ORDER-2", of, both) == ("fails silently", "reordered")


def far_case() -> Case:
    document = json.dumps({"position": {"epoch": 1, "batches": 10**11}})
    w = Workload(n=10**12, batch_size=2, shuffle=True, seed=3, epochs=0)
    steps = (Step("load_document", value="far", document=document), Step("take", 2))
    plans = (SessionPlan(Execution(), (Step("take", 2),)), SessionPlan(Execution(), steps))
    return Case("far position", w, plans)


def test_far_positions() -> None:
    of = far_case()

    def at(epoch: int, first: int) -> list[Batch]:
        k = key(3, epoch)
        flat = elements(10**12, k, range(first * 2, first * 2 + 4))
        return [[[flat[0]], [flat[1]]], [[flat[2]], [flat[3]]]]

    start = [Event(0, "take", at(0, 0), opened=True)]
    good = run(of, start, [Event(0, "load_document"), Event(1, "take", at(1, 10**11))])
    assert outcome("ORDER-5", of, good) == ("pass", "")
    over = run(of, start, [Event(0, "load_document"), Event(1, "take", at(1, 0))])
    assert outcome("ORDER-5", of, over) == ("fails silently", "different")
    hang = run(of, [Event(0, "take", opened=True, fault=fault("hang next"))])
    assert outcome("ORDER-5", of, hang) == ("fails", "cost")
    full = run(of, [Event(0, "take", opened=True, fault=fault("iter MemoryError no room"))])
    assert outcome("ORDER-5", of, full) == ("fails", "cost")
    unread = run(of, start, [Event(0, "load_document", fault=fault("load ValueError no"))])
    assert outcome("ORDER-5", of, unread) == ("blocked", "")


def drawing(kind: str, lanes: int | None, right: tuple[bool, ...], order: bool = True) -> Any:
    """Return the case and trace of one epoch of draws; ``right`` says which streams are."""
    names = ("python", "numpy", "torch")
    w = Workload(kind, n=6, batch_size=2, shuffle=kind == "map", seed=7, draws=names, epochs=0)
    of = Case("seeds", w, (SessionPlan(Execution(lanes=lanes), (Step("drain"),)),))
    if kind == "map":
        flat = elements(6, key(7, 0), range(6)) if order else list(range(6))
        parts = [(derive_words(7, "batch.map", 0, i), flat[2 * i : 2 * i + 2]) for i in range(3)]
    else:
        dealt = [(0, 0, [0, 2]), (1, 0, [1, 3]), (0, 1, [4]), (1, 1, [5])]
        parts = [(derive_words(7, "batch.iterable", 0, lane, o), ids) for lane, o, ids in dealt]
    delivered: list[Batch] = []
    for seeds, ids in parts:
        python, numpy, torch = streams(seeds)
        batch: Batch = []
        for i in ids:
            drawn = (python.random(), numpy.random(), torch_float(torch))
            batch.append([i, *(d if ok else 0.5 for d, ok in zip(drawn, right, strict=True))])
        delivered.append(batch)
    return of, run(of, drained(delivered))


def test_seeds() -> None:
    everything, nothing = (True, True, True), (False, False, False)
    of, t = drawing("map", None, everything)
    assert [outcome(f"SEED-{i}", of, t) for i in (1, 2, 4)] == [("pass", "")] * 3
    assert found("SEED-3", of, t) is None
    of, t = drawing("iterable", 2, everything)
    assert [outcome(f"SEED-{i}", of, t) for i in (3, 4)] == [("pass", "")] * 2
    of, t = drawing("map", None, (True, False, True))
    assert outcome("SEED-4", of, t) == ("fails silently", "values")
    assert outcome("SEED-2", of, t) == ("pass", "")
    of, t = drawing("map", None, nothing)
    assert outcome("SEED-2", of, t) == ("fails silently", "values")
    assert outcome("SEED-4", of, t) == ("blocked", "")
    assert outcome("SEED-1", of, t) == ("pass", "")
    of, t = drawing("map", None, nothing, order=False)
    assert outcome("SEED-1", of, t) == ("fails silently", "values")
    of, t = drawing("iterable", 2, nothing)
    assert outcome("SEED-3", of, t) == ("fails silently", "values")


@pytest.mark.parametrize(
    ("seed", "expected"),
    [(7, ("pass", "")), ({"$int": "7"}, ("pass", "")), (8, ("fails", "invalid"))],
)
def test_the_root_is_in_the_plan(seed: Any, expected: tuple[str, str]) -> None:
    of = Case("order", SHUFFLED, (SessionPlan(Execution(), (Step("save", state="s"),)),))
    t = run(of, [Event(0, "save", document={"plan": {"seed": seed}})])
    assert outcome("SEED-5", of, t) == expected


def test_the_streams_are_the_published_ones() -> None:
    for published in vector("seeds", "streams").data["streams"]:
        seeds = [int(w) for w in published["words"]]
        python, numpy, _ = streams(seeds)
        assert [python.random() for _ in range(4)] == published["python"]
        assert [numpy.random() for _ in range(4)] == published["numpy"]


def test_a_torch_float_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    for seed in (0, 1, 2**64 - 1, 4592959449762576890):
        generator = torch.Generator().manual_seed(seed)
        theirs = [float(torch.rand((), generator=generator)) for _ in range(1000)]
        ours = streams((seed, 0, 0, 0))[2]
        assert [torch_float(ours) for _ in range(1000)] == theirs


@pytest.mark.parametrize(
    "v", [v for v in vectors("order") if "orders" in v.data], ids=lambda v: v.name
)
def test_the_permutations_are_the_published_ones(v: Vector) -> None:
    n = int(v.data["n"])
    for order in v.data["orders"]:
        k = int(order["key"])
        for stretch in order.get("at", []):
            position = int(stretch["position"])
            wanted = [int(i) for i in stretch["elements"]][:16]
            assert elements(n, k, range(position, position + len(wanted))) == wanted
        if "elements" in order:
            assert elements(n, k, range(n)) == [int(i) for i in order["elements"]]
