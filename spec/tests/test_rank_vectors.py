"""The vectors of ranks hold for the reference loader and for the model of ranks."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import rank_runs
from rank_model import Lane, LaneRank, Lanes, Plan, Position, Rank, sequence, turns
from second import words
from test_vectors import SCHEMA, plan_of, state_of, vectors

from midepoch.encoding import canonical
from midepoch.format.plan import compare
from midepoch.format.state import Document

Batches = list[list[list[float]]]


@vectors("ranks")
def test_the_reference_goes_on_under_each_number_of_ranks(
    name: str, vector: dict[str, Any]
) -> None:
    for one in vector["ranks"]:
        assert rank_runs.continue_ranks(vector, one["world"]) == one["epochs"]


@vectors("ranks")
def test_the_states_are_documents_and_the_parts_make_the_whole(
    name: str, vector: dict[str, Any]
) -> None:
    for state in (vector["state"], *vector.get("parts", [])):
        SCHEMA.validate(state)
        read = canonical.loads(json.dumps(state).encode("utf-8"))
        assert Document.from_dict(read).to_dict() == read
    differing = compare(Document.from_dict(state_of(vector)).plan, plan_of(vector))
    assert [field for field, _, _ in differing] == ["batch_size"] * ("cut-anew" in name)
    if "parts" in vector:
        assert rank_runs.merged_parts(vector) == vector["state"]
        backwards = {**vector, "parts": vector["parts"][::-1]}
        assert rank_runs.merged_parts(backwards) == vector["state"]


@vectors("ranks")
def test_the_model_delivers_the_same(name: str, vector: dict[str, Any]) -> None:
    modelled = _of_lanes if "parts" in vector else _of_shares
    for one in vector["ranks"]:
        for rank, epochs in enumerate(one["epochs"]):
            modelled(vector, rank, one["world"], epochs)


def _of_shares(vector: dict[str, Any], rank: int, world: int, epochs: list[Batches]) -> None:
    plan, position = vector["plan"], vector["state"]["position"]
    order = Plan(plan["length"], plan["batch_size"], plan["tail"], int(plan["seed"]))
    model = Rank(order, rank, world)
    at = Position(position["epoch"], position["samples"], 0, tuple(position["carried"] or ()))
    model.load((order, at))
    for epoch, batches in enumerate(epochs, position["epoch"]):
        for batch in batches:
            share = model.deliver()
            assert share is not None
            for (place, index), row in zip(share, batch, strict=True):
                assert row[0] == index
                if vector["dataset"]["draws"]:
                    seed = words(order.seed, "sample", epoch, place)[1]
                    assert row[1] == random.Random(seed).random()
        assert model.deliver() is None


def _of_lanes(vector: dict[str, Any], rank: int, world: int, epochs: list[Batches]) -> None:
    count, state = vector["plan"]["lanes"], vector["state"]
    lengths, wanted = _in_turn(vector) if vector["plan"]["dataset"] == "map" else _streams(vector)
    entries = (
        Lane(max(0, entry["ordinal"]) + entry["replay"], entry["ended"])
        for entry in state["lanes"]["entries"]
    )
    model = LaneRank(lengths, rank, world)
    model.load(Lanes(state["position"]["epoch"], count, tuple(enumerate(entries))))
    for epoch, batches in enumerate(epochs, state["position"]["epoch"]):
        for batch in batches:
            found = model.deliver()
            assert found is not None
            rows = [[row[0], *row[4 if vector["dataset"]["draws"] else 1 :]] for row in batch]
            assert rows == wanted(epoch, *found)
            if vector["plan"]["dataset"] == "map" and vector["dataset"]["draws"]:
                number = found[1] * count + found[0]
                seed = words(int(vector["plan"]["seed"]), "batch.map", epoch, number)[1]
                assert batch[0][1] == random.Random(seed).random()
        assert model.deliver() is None
        model.next_epoch()


Wanted = Callable[[int, int, int], list[list[int]]]
"""Gives the ids, and what else a row has, of a batch: by its epoch, lane and ordinal."""


def _streams(vector: dict[str, Any]) -> tuple[list[int], Wanted]:
    """Return the batches of each lane of a stream, and what is in them."""
    length, count = vector["dataset"]["length"], vector["plan"]["lanes"]
    size = vector["plan"]["batch_size"]

    def wanted(epoch: int, lane: int, ordinal: int) -> list[list[int]]:
        mine = [*range(lane, length, count)]
        return [[index] for index in mine[ordinal * size : (ordinal + 1) * size]]

    return [-(-len(range(lane, length, count)) // size) for lane in range(count)], wanted


def _in_turn(vector: dict[str, Any]) -> tuple[list[int], Wanted]:
    """Return the same of a map-style dataset, whose rows count what their lane made before."""
    saved, count = vector["plan"], vector["plan"]["lanes"]
    plan = Plan(saved["length"], saved["batch_size"], saved["tail"], int(saved["seed"]))
    lengths = turns(plan, count)

    def ids(epoch: int, lane: int, ordinal: int) -> list[int]:
        shuffled = sequence(plan, Position(epoch))
        order = shuffled if saved["sampler"] == "shuffle" else range(plan.length)
        first = (ordinal * count + lane) * plan.batch
        return [*order[first : first + plan.batch]]

    def wanted(epoch: int, lane: int, ordinal: int) -> list[list[int]]:
        held = sum(len(ids(0, lane, n)) for n in range(lengths[lane]))
        made = epoch * held + ordinal * plan.batch
        return [[index, made + i] for i, index in enumerate(ids(epoch, lane, ordinal))]

    return lengths, wanted
