"""A user's batch in words: each value as it is, a fingerprint where it is large."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import pytest
import torch

from midepoch_conformance.case.tampering import edit
from midepoch_conformance.host.session.batch_values import (
    BatchError,
    SharedBatchError,
    content,
    in_arrays,
    in_numbers,
    shown,
)

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Sample:
    name: str
    label: int


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (3, "3"),
        ([1, 2.5, None, True], "[1, 2.5, None, True]"),
        ((4,), "(4,)"),
        ({"id": [3], "name": "cat"}, "{'id': [3], 'name': 'cat'}"),
        ({"b": 1, "a": 2}, "{'a': 2, 'b': 1}"),
        (torch.tensor([[0, 1], [2, 3]]), "tensor([[0, 1], [2, 3]])"),
        (torch.tensor([0.1, 1.0]), "tensor([0.1, 1.0])"),
        (torch.tensor([1], dtype=torch.int16), "tensor([1], int16)"),
        (torch.zeros(0, 3), "tensor(0x3, torch.float32)"),
        (Point(1, 2), "Point(x=1, y=2)"),
        (Sample("a", 1), "Sample(name='a', label=1)"),
    ],
)
def test_a_small_batch_is_its_value(batch: Any, words: str) -> None:
    assert shown(batch) == words


def test_a_large_batch_says_what_it_is_and_has_a_fingerprint() -> None:
    batch = {"image": torch.zeros(4, 3, 32, 32), "label": torch.tensor([1, 2, 3, 4])}
    text = shown(batch)
    assert text.startswith(
        "{'image': tensor(4x3x32x32, torch.float32), 'label': tensor([1, 2, 3, 4])} #"
    )
    assert text.endswith(f"{content(batch):012x}")
    batch["image"][3, 2, 31, 31] = 1e-6
    assert shown(batch) != text


def test_what_words_leave_out_is_told_apart() -> None:
    class Opaque:
        __slots__ = ("x",)

        def __init__(self, x: int) -> None:
            self.x = x

        def __reduce__(self) -> tuple[Any, ...]:
            return int, (self.x,)

    class Numbers(list):  # type: ignore[type-arg]
        pass

    cycle: list[Any] = []
    cycle.append(cycle)
    pairs: list[tuple[Any, Any]] = [
        (Opaque(1), Opaque(2)),
        (list(range(99)), [*range(98), 7]),
        ("a" * 99 + "b", "a" * 99 + "c"),
        (1, 1.0),
        (1, True),
        ([1], (1,)),
        (torch.tensor([1]), torch.tensor([1], dtype=torch.int32)),
        (torch.tensor([0.1]), torch.tensor([0.1], dtype=torch.float64)),
        (torch.tensor([0.1]), torch.tensor([0.1]) + 1e-8),
        (Numbers([1]), Numbers([2])),
        (cycle, [cycle, 1]),
    ]
    for one, other in pairs:
        assert shown(one) != shown(other)
        assert shown(one) == shown(one)


def test_a_batch_that_shares_a_states_values_is_the_loaders_fault_and_not_the_adapters() -> None:
    rows = [[3.0, 0.5], [4.0, 0.25]]
    assert in_numbers(rows) == rows
    edit({"buffer": rows})
    with pytest.raises(SharedBatchError, match="what was written into a state"):
        in_numbers(rows)
    with pytest.raises(BatchError, match="a batch is a list of rows"):
        in_numbers([["cat"]])


def test_a_batch_of_arrays_is_the_loaders_own() -> None:
    import numpy as np

    assert in_arrays(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert in_arrays([np.array([1, 2])]) == [[1, 2]]
    assert in_arrays([]) == []
    with pytest.raises(BatchError, match="no copy of its numbers"):
        in_arrays([[1, 2], [3, 4]])
