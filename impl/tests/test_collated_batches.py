"""Batches that a loader collates itself, large ones too: as torch's, and nobody else's memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from crossing_values import LARGE, SAMPLES, tensor
from pictures import picture
from torch.utils.data import DataLoader, Dataset, default_collate
from torch.utils.data._utils.collate import collate, default_collate_fn_map

import midepoch

pytestmark = pytest.mark.usefixtures("classic")


def loader(dataset: Dataset[Any], **arguments: Any) -> Any:
    chosen = {"batch_size": 4, "num_workers": 1, "seed": 5, **arguments}
    return midepoch.StatefulDataLoader(dataset, **chosen)


class Samples(Dataset[Any]):
    def __init__(self, make: Callable[[int], Any], n: int = 50) -> None:
        self.make = make
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


def outcomes(batches: Any) -> list[Any]:
    """Return what each batch looks like, or its error."""
    told = []
    iterator = iter(batches)
    while True:
        try:
            told.append(picture(next(iterator)))
        except StopIteration:
            return told
        except Exception as error:
            told.append(type(error).__name__)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("name", SAMPLES)
def test_batches_are_collated_as_by_torch(name: str) -> None:
    dataset = Samples(SAMPLES[name], 30)
    expected = outcomes(DataLoader(dataset, batch_size=4))
    for route in ({"num_workers": 0}, {"worker_type": "thread"}, {"worker_type": "process"}):
        assert outcomes(loader(dataset, **route)) == expected, route


def test_collated_batches_may_be_kept_viewed_and_written() -> None:
    draw = random.Random(3)
    dataset = Samples(SAMPLES["several"], 160)
    for turn, workers in enumerate((1, 2)):
        held: list[tuple[Any, Any]] = []
        batches = loader(dataset, num_workers=workers, prefetch_factor=3)
        for number, batch in enumerate(batches):
            first = 4 * number
            assert batch["y"].tolist() == list(range(first, first + 4))
            assert all(torch.equal(batch["x"][k], tensor(first + k)) for k in range(4))
            assert all(torch.equal(batch["z"][0][k], tensor(-first - k)) for k in range(4))
            batch["a"].zero_()
            row = draw.randrange(4)
            views = [batch["x"][row], batch["x"].numpy()[row], batch["z"][0][row].numpy()[5:]]
            held.append((draw.choice(views), None))
            held[-1] = held[-1][0], np.asarray(held[-1][0]).copy()
            assert all(np.array_equal(np.asarray(view), was) for view, was in held), turn
            if number % 7 == 6:
                del held[: draw.randrange(len(held))]


class Remembering:
    """A collate function that keeps batches in its worker, and goes on to use them."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.kept: list[Any] = []

    def __call__(self, samples: list[Any]) -> Any:
        batch = default_collate(samples)
        told = [float(one[0, 0]) for one in self.kept]
        if self.how == "keeps":
            self.kept.append(batch)
        elif self.how == "keeps a view":
            self.kept.append(batch.numpy()[1:].T.reshape(-1, 1)[:1])
        elif self.how == "writes" and self.kept:
            self.kept[-1].fill_(-1.0)
            self.kept.append(batch)
        elif self.how == "collates twice":
            return default_collate(samples), batch, told
        elif self.how == "drops":
            return default_collate(samples[::-1]), told
        return batch, told


@pytest.mark.parametrize("how", ["keeps", "keeps a view", "writes", "collates twice", "drops"])
def test_a_worker_may_keep_what_it_collated(how: str) -> None:
    dataset = Samples(tensor, 60)
    wanted = [picture(batch) for batch in DataLoader(dataset, 4, collate_fn=Remembering(how))]
    got = [picture(batch) for batch in loader(dataset, collate_fn=Remembering(how))]
    assert got == wanted


class Boxed:
    """A type of a user's own, for which torch's collate function was told what to do."""

    def __init__(self, value: Any) -> None:
        self.value = value


def collate_boxed(boxes: list[Boxed], *, collate_fn_map: Any = None) -> Any:
    batch = collate([box.value for box in boxes], collate_fn_map=collate_fn_map)
    told = [float(one[0, 0]) for one in KEPT]
    KEPT.append(batch[1:])
    return batch, told


KEPT: list[Any] = []


def test_a_function_that_torch_calls_for_a_type_may_keep_what_it_collated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(default_collate_fn_map, Boxed, collate_boxed)
    dataset = Samples(lambda index: Boxed(tensor(index)), 60)
    wanted = [picture(batch) for batch in DataLoader(dataset, 4)]
    KEPT.clear()
    got = [picture(batch) for batch in loader(dataset)]
    assert got == wanted


class Rows(Dataset[Any]):
    """Samples that are rows of one table, which stays in the worker."""

    def __init__(self) -> None:
        self.table = torch.arange(12 * LARGE, dtype=torch.float32).reshape(12, LARGE)

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return self.table[index]


@pytest.mark.parametrize("size", [1, 3])
def test_writing_a_batch_leaves_the_datasets_table_as_it_is(size: int) -> None:
    table = Rows().table
    made = loader(Rows(), batch_size=size, persistent_workers=True)
    for _ in range(3):
        for number, batch in enumerate(made):
            assert torch.equal(batch, table[size * number : size * (number + 1)])
            batch.zero_()


def test_an_error_amid_collating_is_that_batchs_alone() -> None:
    def make(index: int) -> Any:
        uneven = LARGE + 1 if index in (5, 13, 14) else LARGE
        return {"x": tensor(index), "y": tensor(index, uneven), "z": tensor(index)}

    batches = iter(loader(Samples(make, 32), prefetch_factor=3))
    kept = []
    for number in range(8):
        if number in (1, 3):
            with pytest.raises(RuntimeError, match="equal size"):
                next(batches)
        else:
            kept.append((number, next(batches)))
    for number, batch in kept:
        for part in batch.values():
            assert all(torch.equal(part[k], tensor(4 * number + k)) for k in range(4))
