"""Lists, tuples, arrays and tensors as datasets, and the refusal of other objects."""

from __future__ import annotations

import array
import itertools
from collections import UserDict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset

import midepoch
from midepoch.errors import ArgumentError

N = 7

DATASETS: dict[str, Any] = {
    "list": [float(i) for i in range(N)],
    "tuple": tuple(range(N)),
    "range": range(3, 3 + N),
    "list of rows": [{"x": i, "y": [i, 2.5]} for i in range(N)],
    "texts": [f"row {i}" for i in range(N)],
    "bytes": bytes(range(N)),
    "deque": deque(range(N)),
    "array": array.array("d", range(N)),
    "one dimension": np.arange(N, dtype=np.float32),
    "two dimensions": np.arange(2 * N).reshape(N, 2),
    "structured": np.zeros(N, dtype=[("a", "i4"), ("b", "f8")]),
    "big-endian": np.arange(N, dtype=">i4"),
    "tensor": torch.arange(2 * N).reshape(N, 2),
    "vector": torch.linspace(0, 1, N, dtype=torch.float64),
    "half": torch.arange(N, dtype=torch.bfloat16),
    "tensors": TensorDataset(torch.arange(N), torch.arange(2 * N).reshape(N, 2)),
    "subset": Subset(TensorDataset(torch.arange(N)), [3, 1]),
    "joined": ConcatDataset([TensorDataset(torch.arange(3)), TensorDataset(torch.arange(N))]),
    "dict of indices": {i: i * i for i in range(N)},
    "empty": [],
}


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def outcome(loader: Any) -> Any:
    try:
        return list(loader)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("name", DATASETS)
def test_torchs_batches_from_whatever_torch_takes(name: str, size: int | None) -> None:
    dataset = DATASETS[name]
    made: Any = midepoch.StatefulDataLoader(dataset, size)
    expected = outcome(DataLoader(dataset, size))
    assert same(outcome(made), expected)
    if isinstance(expected, list):
        assert len(made) == len(expected)


@pytest.mark.parametrize("name", ["list of rows", "two dimensions", "tensor", "tensors"])
@pytest.mark.parametrize("workers", [0, 2])
def test_they_resume(name: str, workers: int) -> None:
    def make() -> Any:
        dataset = DATASETS[name]
        return midepoch.StatefulDataLoader(dataset, 2, shuffle=True, seed=3, num_workers=workers)

    whole = make()
    epochs = [list(whole), list(whole)]
    iterator = iter(whole := make())
    first = list(itertools.islice(iterator, 2))
    other = make()
    other.load_state_dict(whole.state_dict())
    del iterator
    assert same([first + list(other), list(other)], epochs)


class Several:
    """Nothing but a look-up of several."""

    def __len__(self) -> int:
        return N

    def __getitems__(self, keys: list[int]) -> list[int]:
        return [10 * key for key in keys]


def test_a_dataset_of_getitems_alone() -> None:
    dataset: Any = Several()
    made: Any = midepoch.StatefulDataLoader(dataset, 3, collate_fn=keep)
    assert list(made) == [[0, 10, 20], [30, 40, 50], [60]]


def test_a_mapping_under_a_sampler_of_its_keys() -> None:
    dataset: Any = {"a": 1, "b": 2}
    assert list(midepoch.StatefulDataLoader(dataset, 2, sampler=["b", "a"], collate_fn=keep)) == [
        [2, 1]
    ]
    with pytest.raises(ArgumentError, match=r"a dict whose keys are not 0 to 1; give its keys as"):
        midepoch.StatefulDataLoader(dataset)


class NoData:
    pass


class Rows:
    def __iter__(self) -> Iterator[int]:
        return iter([1, 2])


REFUSED: list[tuple[Any, str]] = [
    (None, "got None"),
    (5, "got 5"),
    (NoData(), "got a NoData"),
    ("data/train.csv", r"the text 'data/train.csv'; a path has to be opened"),
    ({3, 1}, r"got a set; list\(...\) it first"),
    (frozenset({3}), "got a frozenset"),
    ({"a": 1}.values(), "got a dict_values"),
    (Rows(), "got a Rows; .* IterableDataset"),
    ((i for i in range(3)), "a generator, which can be read once only"),
    (iter([1, 2]), "which can be read once only"),
    (UserDict({"a": 1}), "UserDict whose keys are not 0 to 0"),
    (np.array(3.0), "a ndarray of no dimension"),
    (np.float64(3), "a float64 of no dimension"),
    (torch.tensor(3), "a Tensor of no dimension"),
    (sources.Plain, "the class Plain; pass an instance"),
]


@pytest.mark.parametrize(("dataset", "words"), REFUSED)
@pytest.mark.parametrize("shuffle", [False, True])
def test_what_is_no_dataset(dataset: Any, words: str, shuffle: bool) -> None:
    with pytest.raises(ArgumentError, match=words) as refusal:
        midepoch.StatefulDataLoader(dataset, shuffle=shuffle)
    assert str(refusal.value).startswith("dataset should be map-style (a list, a tuple, an array")


class Growing(Dataset[int]):
    """Gets longer or shorter between two epochs."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        return index


@pytest.mark.parametrize(("shuffle", "workers"), [(False, 0), (True, 0), (True, 2)])
def test_a_dataset_that_changes_between_epochs(shuffle: bool, workers: int) -> None:
    def make(n: int) -> Any:
        return midepoch.StatefulDataLoader(
            Growing(n), 4, shuffle=shuffle, seed=2, collate_fn=keep, num_workers=workers
        )

    made = make(6)
    sizes = [6, 13, 3]
    for epoch, size in enumerate(sizes):
        made.dataset.n = size
        state = made.state_dict()
        assert (state["plan"]["length"], state["position"]["epoch"]) == (size, epoch)
        assert len(made) == -(-size // 4)
        iterator = iter(made)
        first = next(iterator)
        within = made.state_dict()
        rest = list(iterator)
        assert sorted(itertools.chain(first, *rest)) == list(range(size))
        at_start, in_the_middle = make(size), make(size)
        at_start.load_state_dict(state)
        in_the_middle.load_state_dict(within)
        assert list(at_start) == [first, *rest]
        assert list(in_the_middle) == rest
