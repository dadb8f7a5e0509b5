"""The judges of Order, against the published vectors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from written import fault, found, outcome, run

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Batch, Event, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.finding import Finding, block_dependents
from midepoch_conformance.verdict.format.permutation import (
    derive_words,
    elements,
    key,
    streams,
    torch_float,
)
from midepoch_conformance.verdict.format.published import (
    Vector,
    published_elements,
    vector,
    vectors,
)

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


def taken(epoch: list[Batch]) -> list[Event]:
    return [Event(0, "take", batches=epoch, opened=True)]


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
    assert outcome("ORDER-4", of, run(of, taken(first))) == ("pass", "")
    short = run(of, drained(first))
    assert outcome("ORDER-4", of, short) == ("fails silently", "reordered")
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
    assert outcome("ORDER-2", of, run(of, drained(small), taken(large))) == ("pass", "")
    one = run(of, drained(small[::-1]), taken(large))
    assert outcome("ORDER-2", of, one) == ("pass", "")
    both = found("ORDER-2", of, run(of, drained(small[::-1]), taken(large[::-1])))
    assert both is not None
    assert (both.outcome, both.kind) == ("fails silently", "reordered")
    assert "or their key (SEED-1)" in both.words
    of_seeds = Finding("SEED-2", "fails silently", "values", workload="map", workers=(0,))
    blocked = block_dependents([both, of_seeds])[0]
    assert (blocked.outcome, both.needs) == ("blocked", ("SEED-2",))


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
    wrong = run(of, [Event(0, "take", at(0, 8), opened=True)], [])
    assert outcome("ORDER-5", of, wrong) == ("blocked", "")  # ORDER-4 is about that
    for text, found_so in (
        ("open ValueError at most 2**32 samples", "not offered"),
        ("open MemoryError no room", "fails"),
        ("open AssertionError", "fails"),
    ):
        unbuilt = Trace(of.id, [SessionTrace([], fault(text))])
        assert outcome("ORDER-5", of, unbuilt)[0] == found_so


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
    assert outcome("SEED-2", of, t) == ("fails silently", "values")
    assert outcome("SEED-1", of, t) == ("fails silently", "values")
    of, t = drawing("map", None, nothing)
    assert outcome("SEED-2", of, t) == ("fails silently", "values")
    assert outcome("SEED-4", of, t) == ("blocked", "")
    assert outcome("SEED-1", of, t) == ("fails silently", "values")
    of, t = drawing("map", None, everything, order=False)
    assert outcome("SEED-1", of, t) == ("fails silently", "reordered")
    of, t = drawing("map", None, nothing, order=False)
    assert outcome("SEED-1", of, t) == ("fails silently", "values")
    of, t = drawing("iterable", 2, nothing)
    assert outcome("SEED-3", of, t) == ("fails silently", "values")


@pytest.mark.parametrize(
    ("seed", "expected"),
    [("7", ("pass", "")), (7, ("fails", "invalid")), ("8", ("fails", "invalid"))],
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
        generator = torch.Generator().manual_seed(seed >> 1)
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


def stretches(name: str) -> tuple[Case, list[Event]]:
    """Return the case that plays a published order, and its events where all is right."""
    n = int(vector("order", name).data["n"])
    w = Workload(n=n, batch_size=1, shuffle=True, epochs=0)
    steps: list[Step] = []
    events: list[Event] = []
    for position, wanted in published_elements(name):
        steps += [Step("load_document", value=f"{name} at {position}"), Step("take", len(wanted))]
        events += [Event(len(events), "load_document")]
        events += [Event(len(events), "take", batches=[[[i]] for i in wanted], opened=True)]
    return Case("published order", w, (SessionPlan(Execution(), tuple(steps)),)), events


@pytest.mark.parametrize(
    ("name", "requirement"), [("97", "ORDER-3"), ("4096", "ORDER-3"), ("4097", "ORDER-4")]
)
def test_the_published_orders_are_played(name: str, requirement: str) -> None:
    of, events = stretches(name)
    assert outcome(requirement, of, run(of, events)) == ("pass", "")
    other = "ORDER-4" if requirement == "ORDER-3" else "ORDER-3"
    assert found(other, of, run(of, events)) is None
    events[-1].batches.reverse()
    assert outcome(requirement, of, run(of, events)) == ("fails silently", "reordered")


def elsewhere(stream: str, workers: int = 0) -> tuple[Case, list[Event]]:
    """Return the case of draws beside the samples', and the events of two epochs on two lanes."""
    names = ("python", "numpy", "torch")
    w = Workload("iterable", n=4, batch_size=1, seed=7, stream=stream, draws=names, epochs=0)
    of = Case(
        "seeds elsewhere", w, (SessionPlan(Execution(workers, lanes=2), (Step("drain"),) * 2),)
    )
    epochs: list[list[Batch]] = []
    for epoch in range(2):
        batches: list[Batch] = []
        for i in range(4):
            if stream == "begun":
                words = derive_words(7, "lane", epoch, i % 2)
            else:
                words = derive_words(7, "worker", *([epoch] if workers else []), i % 2)
            python, numpy, torch = streams(words)
            drawn = [python.random(), numpy.random(), torch_float(torch)]
            seed = [words[0] >> 1] if stream == "set up" else []
            batches.append([[i, 0.0, 0.0, 0.0, *drawn, *seed]])
        epochs.append(batches)
    return of, drained(*epochs)


@pytest.mark.parametrize(("stream", "workers"), [("begun", 0), ("set up", 0), ("set up", 2)])
def test_seeds_of_lanes_and_workers(stream: str, workers: int) -> None:
    of, events = elsewhere(stream, workers)
    assert outcome("SEED-4", of, run(of, events)) == ("pass", "")
    events[1].batches[3][0][5] += 0.25
    assert outcome("SEED-4", of, run(of, events)) == ("fails silently", "values")


def test_seeds_of_samplers() -> None:
    w = Workload(n=6, batch_size=6, seed=7, sampler="drawn", epochs=0)
    of = Case("seeds elsewhere", w, (SessionPlan(Execution(), (Step("drain"),)),))
    python, numpy, torch = streams(derive_words(7, "sampler", 0))
    order, left = [], [0, 1, 2, 3, 4, 5]
    while left:
        drawn = python.random() + numpy.random() + torch_float(torch)
        order.append(left.pop(int(drawn * 2**20) % len(left)))
    assert outcome("SEED-4", of, run(of, drained([[[i] for i in order]]))) == ("pass", "")
    wrong = run(of, drained([[[i] for i in reversed(order)]]))
    assert outcome("SEED-4", of, wrong) == ("fails silently", "values")
