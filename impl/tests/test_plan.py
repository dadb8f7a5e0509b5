"""DOC-12: every differing field is found, and no other."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from midepoch.errors import PlanMismatchError
from midepoch.format.plan import Difference, Plan, compare

PLAN = Plan("map", 100, "shuffle", None, 7, 8, "keep", 2, "epoch")
OTHER: dict[str, Any] = {
    "dataset": "iterable",
    "length": None,
    "sampler": "custom",
    "sampler_name": "m.Sampler",
    "seed": 8,
    "batch_size": None,
    "tail": "drop",
    "lanes": 0,
    "lifetime": "run",
    "data": "d",
    "options": {"a": "b"},
}


def test_every_field_has_another_value_here() -> None:
    assert list(OTHER) == [field.name for field in fields(Plan)]


def test_equal_plans_do_not_differ() -> None:
    assert compare(PLAN, replace(PLAN)) == []


@pytest.mark.parametrize("name", OTHER)
def test_each_field_is_compared(name: str) -> None:
    here = replace(PLAN, **{name: OTHER[name]})
    assert compare(PLAN, here) == [Difference(name, getattr(PLAN, name), OTHER[name])]
    assert compare(PLAN, here, ignore={name}) == []


def test_all_differences_come_at_once_in_the_plans_order() -> None:
    found = compare(PLAN, Plan(**OTHER))
    assert [difference.field for difference in found] == list(OTHER)


def test_the_error_names_every_field_with_both_values() -> None:
    error = PlanMismatchError(compare(PLAN, replace(PLAN, batch_size=4, length=101)))
    assert error.fields == (("length", 100, 101), ("batch_size", 8, 4))
    lines = str(error).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["field", "saved", "here"],
        ["length", "100", "101"],
        ["batch_size", "8", "4"],
    ]
    assert lines[-1].endswith("[DOC-12]")
