"""The workload: its fields, trees, gates, shares and what it says of itself."""

from __future__ import annotations

import collections
import dataclasses
import json
import multiprocessing
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.data import rows as module
from midepoch_conformance.case.data.trees import CODECS, TREES, spelled, tree_at
from midepoch_conformance.case.uninterrupted import usual_length, usual_lengths
from midepoch_conformance.case.workload import KINDS, Workload, WorkloadError
from midepoch_conformance.families.family import Cell
from midepoch_conformance.families.unusual.aspects import ASPECTS, UNUSUAL, workload


def test_fields_come_back_from_json() -> None:
    w = Workload(draws=("numpy",), gate=(0, 6), tree="growing", stream="buffer", grow=-3)
    assert Workload(**json.loads(json.dumps(dataclasses.asdict(w)))) == w
    assert Case.from_json(json.loads(json.dumps(Case("cut", w, ()).to_json()))) == Case(
        "cut", w, ()
    )


def test_a_tree_was_once_all_or_nothing() -> None:
    assert Workload(tree=True).tree == "plain"  # type: ignore[arg-type]
    assert Workload(tree=False).tree == ""  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["stream", "state_at", "tree", "sampler"])
def test_what_there_is_none_of_is_named(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} is one of .*, got 'other'"):
        Workload(**{field: "other"})  # type: ignore[arg-type]


def test_plain_workloads_have_no_feature() -> None:
    assert Workload().feature == ""
    assert (
        Workload("stateful_map", draws=("own", "numpy"), tree="plain", shuffle=True).feature == ""
    )
    w = Workload("stateful_iterable", stream="buffer", state_at="iterator", tree="arrays")
    assert w.feature == "buffer stream, state on the iterator, tree: arrays"
    # A loader that shuffles streams wrongly may resume others rightly.
    assert Workload("stateful_iterable", shuffle=True).feature == "shuffled stream"


def test_unusual_workloads_differ_in_their_features_and_have_a_known_aspect() -> None:
    features = []
    for name, work in UNUSUAL.items():
        cell = Cell("test", {"unusual": name, "kind": work.kinds[0], "shape": (13, 2)})
        made = workload(cell)
        assert made is not None
        features.append((made.kind, made.feature))
        assert work.aspect in ASPECTS
        others = set(KINDS) - set(work.kinds)
        cells = [Cell("test", {"unusual": name, "kind": k, "shape": (13, 2)}) for k in others]
        assert not any(map(workload, cells))
    assert len(set(features)) == len(UNUSUAL) - 1  # more samples and less are told by the words


# Trees


@pytest.mark.parametrize("kind", TREES)
def test_a_tree_is_the_same_at_the_same_position_only(kind: str) -> None:
    assert spelled(tree_at(kind, 3)) == spelled(tree_at(kind, 3))
    assert len({spelled(tree_at(kind, position)) for position in range(20)}) == 20


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("position", [0, 1, 2, 13])
def test_a_tree_survives_the_codecs_that_carry_it(kind: str, position: int, tmp_path: Path) -> None:
    tree = tree_at(kind, position)
    assert spelled(pickle.loads(pickle.dumps(tree))) == spelled(tree)
    if "torch" in CODECS.get(kind, ("torch",)):
        torch.save(tree, tmp_path / "state")
        assert spelled(torch.load(tmp_path / "state", weights_only=True)) == spelled(tree)
    if kind not in CODECS:
        assert spelled(json.loads(json.dumps(tree))) == spelled(tree)


CHANGES: list[tuple[Any, Any]] = [
    (True, 1),
    (1, 1.0),
    (0.0, -0.0),
    ([1], (1,)),
    ({}, collections.OrderedDict()),
    ({"a": 1}, collections.Counter(a=1)),
    ({1: 0}, {True: 0}),
    ({"1": 0}, {1: 0}),
    (None, "None"),
    (b"a", bytearray(b"a")),
    ({1}, frozenset({1})),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
    (numpy.zeros(2, "int32"), numpy.zeros(2, "int64")),
    (numpy.zeros((1, 2)), numpy.zeros((2, 1))),
    (numpy.zeros(()), numpy.float64(0)),
    (numpy.zeros(2), torch.zeros(2, dtype=torch.float64)),
    (torch.zeros(2), torch.zeros(2, dtype=torch.float64)),
    (torch.zeros(0, 2), torch.zeros(2, 0)),
    (torch.zeros(2), torch.tensor([0.0, 1.0])),
    ([{"a": [(1,)]}], [{"a": [[1]]}]),
]


@pytest.mark.parametrize(("one", "other"), CHANGES)
def test_a_changed_value_or_type_is_noticed(one: Any, other: Any) -> None:
    assert spelled(one) != spelled(other)
    assert spelled({"in": [one]}) != spelled({"in": [other]})
    assert spelled(one) == spelled(pickle.loads(pickle.dumps(one)))


@pytest.mark.parametrize("kind", TREES)
def test_a_dataset_gets_its_tree_back_or_says_so(kind: str) -> None:
    w = Workload("stateful_iterable", tree=kind)
    state = pickle.loads(pickle.dumps(w.dataset_state(7)))
    assert w.dataset_position(state) == 7
    key = next(iter(state["tree"]))
    state["tree"][key] = "changed"
    with pytest.raises(WorkloadError, match="came back changed at 7"):
        w.dataset_position(state)
    with pytest.raises(WorkloadError, match="came back incomplete"):
        w.dataset_position({"position": 7})


def test_a_mutated_state_is_the_same_object_each_time() -> None:
    w = Workload("stateful_iterable", tree="mutated")
    first = w.dataset_state(3)
    assert w.dataset_state(4) is first
    assert w.dataset_position(first) == 4
    assert pickle.loads(pickle.dumps(w)).dataset_state(5) is not first
    plain = Workload("stateful_iterable", tree="growing")
    assert plain.dataset_state(3) is not plain.dataset_state(3)


# Gates and failures


def test_a_sample_waits_at_its_gate_until_the_other_was_fetched(tmp_path: Path) -> None:
    w = Workload(gate=(0, 6), log=str(tmp_path / "log"))
    done = threading.Event()

    def waits() -> None:
        w.row(0)
        done.set()

    thread = threading.Thread(target=waits, daemon=True)
    thread.start()
    w.row(16)  # not the one, though it ends with its digit
    assert not done.is_set()
    w.row(6)
    thread.join()
    assert done.is_set()


def test_a_gate_gives_up_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def later() -> float:
        nonlocal now
        now += 1
        return now

    monkeypatch.setattr(module.time, "monotonic", later)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert Workload(gate=(0, 6), log=str(tmp_path / "log")).row(0) == [0]
    assert now > module.PATIENCE
    assert Workload(gate=(0, 6)).row(0) == [0], "without a log nobody could open it"


def test_a_dataset_can_fail_when_it_is_set_up() -> None:
    w = Workload("iterable", fail_at=-1)
    with pytest.raises(WorkloadError, match="on purpose"):
        w.stream_of()
    assert w.row(0) == [0]


def test_a_dataset_that_is_its_own_iterator_goes_on_after_an_exception() -> None:
    rows = Workload("iterable", stream="rewinding", fail_at=1, n=4).stream_of()
    assert next(rows) == [0]
    with pytest.raises(WorkloadError):
        next(rows)
    assert list(rows) == [[2], [3]]
    rows = Workload("iterable", fail_at=1, n=4).stream_of()
    next(rows)
    with pytest.raises(WorkloadError):
        next(rows)
    assert list(rows) == [], "a generator is over"


# Lengths


def test_lengths_follow_the_workload() -> None:
    x = Execution()
    assert usual_lengths(Workload(grow=4, epochs=3), x) == [4, 5, 6]
    assert usual_lengths(Workload(grow=-13, epochs=2), x) == [4, 0]
    assert usual_length(Workload(sampler="subset"), x) == 2
    assert usual_length(Workload(sampler="batches", tail="drop"), x) == 4
    ranks = Execution(world=3)
    assert usual_length(Workload(sampler="distributed", batch_size=2), ranks) == 3
    assert usual_lengths(Workload("iterable", stream="oneshot"), x) == [4, 0]
    lanes = Execution(workers=3)
    assert usual_length(Workload("iterable"), lanes) == 4
    assert usual_length(Workload("iterable", stream="uneven"), lanes) == 5
    assert usual_length(Workload("iterable", stream="hollow", batch_size=3), lanes) == 5


def test_samples_come_once_but_with_some_samplers() -> None:
    assert Workload(sampler="custom").whole
    assert not Workload(sampler="weighted").whole
    assert Workload(sampler="subset").subset == [1, 2, 4, 5, 7, 8, 10, 11]


def test_a_sample_that_kills_once_is_delivered_the_next_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    codes = []
    for die_once in (True, False):
        w = Workload(die_at=3, die_once=die_once, log=str(tmp_path / f"log {die_once}"))
        for _ in range(2):
            process = context.Process(target=w.row, args=(3,))
            process.start()
            process.join()
            codes.append(process.exitcode)
            process.close()
    assert codes == [-signal.SIGKILL, 0, -signal.SIGKILL, -signal.SIGKILL]


@pytest.mark.parametrize("of", ["dataset", "collate_fn"])
def test_several_samples_can_raise(of: str) -> None:
    w = Workload(fail_at=3, fails_also=(5,), fails_in=of)
    for bad in (3, 5):
        with pytest.raises(WorkloadError, match=f"sample {bad} fails"):
            w.collate([w.row(4), w.row(bad)])
    assert w.collate([w.row(4)]) == [[4]]


def test_a_slow_sample_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    w = Workload(slow=(3,))
    assert [w.row(i) for i in (2, 3)] == [[2], [3]]
    assert slept == [module.DELAY]
