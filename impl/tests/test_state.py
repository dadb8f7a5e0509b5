"""The state document: DOC-1 to DOC-4, DOC-7, DOC-16, and the published schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from state_documents import (
    CUSTOM,
    ITERABLE,
    MAP,
    SCHEMA,
    VALIDATOR,
    accepts,
    altered,
    documents,
    schema_accepts,
    state,
    thorough,
)

from midepoch.encoding import canonical
from midepoch.format.plan import Plan
from midepoch.format.state import (
    COUNT_MAX,
    Document,
    Position,
)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@thorough
@given(documents())
def test_documents_survive_dicts_and_json_and_fit_the_schema(document: Document) -> None:
    tree = document.to_dict()
    text = canonical.dumps(tree)
    VALIDATOR.validate(json.loads(text))
    again = Document.from_dict(canonical.loads(text))
    assert canonical.dumps(again.to_dict()) == text
    assert again.plan == document.plan
    assert again.position == document.position


def test_the_loaders_own_part_is_of_json_types() -> None:
    document = Document.from_dict(state(CUSTOM))
    assert json.loads(json.dumps(document.to_dict())) == document.to_dict()


def test_users_parts_are_carried_untouched() -> None:
    mine, tree = object(), state(ITERABLE)
    tree["lanes"]["entries"][1]["dataset"] = mine
    document = Document.from_dict(tree)
    assert document.lanes is not None
    assert document.lanes.entries[1].dataset is mine
    assert document.to_dict()["lanes"]["entries"][1]["dataset"] is mine


def test_the_dict_does_not_share_its_own_part() -> None:
    document = Document.from_dict(state(CUSTOM))
    before = canonical.dumps(document.to_dict())
    tree = document.to_dict()
    tree["plan"]["seed"] = -1
    tree["sampler"]["states"].clear()
    tree["sampler"]["stated"].append("x")
    tree["sampler"]["generators"][0]["path"] = ""
    assert canonical.dumps(document.to_dict()) == before


def test_ignorable_keys_are_dropped() -> None:
    tree = {**state(MAP), "x-note": {"$": 1}, "x-": None}
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == state(MAP)


@pytest.mark.parametrize(
    ("length", "size", "tail", "batches", "samples"),
    [
        (0, 4, "keep", 0, 0),
        (10, 4, "keep", 3, 10),
        (12, 4, "keep", 3, 12),
        (10, 4, "drop", 2, 8),
        (3, 4, "drop", 0, 0),
        (10, None, "keep", 10, 10),
    ],
)
def test_a_position_is_at_most_the_end_of_its_epoch(
    length: int, size: int | None, tail: Any, batches: int, samples: int
) -> None:
    plan = Plan("map", length, "sequential", None, 0, size, tail, 0, "epoch")

    def allowed(position: Position) -> bool:
        return accepts(Document(plan, position, None, None).to_dict())

    assert allowed(Position(0, batches, samples))
    assert not allowed(Position(0, batches + 1, samples))
    assert not allowed(Position(0, batches, samples + 1))
    assert not batches or not allowed(Position(0, batches, samples - 1))
    assert not allowed(Position(0, 0, 1))


def test_a_snapshot_may_be_of_the_pass_before_where_one_object_lives_on() -> None:
    tree = altered("iterable", ("plan", "lifetime"), "run")
    tree["lanes"]["entries"][1].update(ordinal=-3, replay=3)
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == tree
    tree = altered("custom", ("sampler", "batches"), -3)
    tree["sampler"]["digest"] = None
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == tree


@pytest.mark.parametrize("samples", [0, 5, COUNT_MAX])
def test_batches_of_a_custom_batch_sampler_hold_any_number_of_samples(samples: int) -> None:
    tree = altered("custom", ("plan", "batch_size"), None)
    tree["position"]["samples"] = samples
    assert accepts(tree)
    tree["position"].update(batches=0)
    tree["sampler"].update(batches=0, digest=None)
    assert accepts(tree) is (samples == 0)


def test_rollover_needs_what_was_carried() -> None:
    tree = altered("map", ("plan", "tail"), "rollover")
    assert not accepts(tree)
    tree["position"]["carried"] = [5]
    assert accepts(tree)
    for carried in ([5] * 8, [100], [-1], [True], [5.0], ["5"], None):
        tree["position"]["carried"] = carried
        assert not accepts(tree), carried
