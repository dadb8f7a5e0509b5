"""Programs written for torchdata's loader: with one import line changed they do the same.

They are of the kinds that its documentation shows: state in the dataset, in its iterator, in a
sampler; saved in the middle of an epoch, at its last batch and at its end; resumed once and
again; broken off early; over several epochs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

import midepoch

pytestmark = [
    pytest.mark.usefixtures("classic"),
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torchdata = pytest.importorskip("torchdata.stateful_dataloader")


# Datasets and samplers, as torchdata's users write them


class Squares(Dataset[int]):
    """Map-style, without state."""

    def __len__(self) -> int:
        return 13

    def __getitem__(self, index: int) -> int:
        return index * index


class RangeIterator(Iterator[int]):
    """An iterator with a state."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers
        self.i = 0

    def __next__(self) -> int:
        if self.i >= len(self.numbers):
            raise StopIteration
        self.i += 1
        return self.numbers[self.i - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"i": self.i}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.i = state["i"]


class StateInIterator(IterableDataset[int]):
    """Its iterators have the state."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        step, first = (info.num_workers, info.id) if info else (1, 0)
        return RangeIterator(range(first, 17, step))


class StateInDataset(IterableDataset[int]):
    """The dataset has the state; its ``__iter__`` is a generator."""

    def __init__(self) -> None:
        self.i = 0

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        step, first = (info.num_workers, info.id) if info else (1, 0)
        numbers = range(first, 17, step)
        while self.i < len(numbers):
            self.i += 1
            yield numbers[self.i - 1]
        self.i = 0

    def state_dict(self) -> dict[str, Any]:
        return {"i": self.i}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.i = state["i"]


class OwnSampler(Sampler[int]):
    """A sampler with a state and an order of its own."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.i = 0

    def __iter__(self) -> Iterator[int]:
        while self.i < self.n:
            self.i += 1
            yield (self.i * 5) % self.n
        self.i = 0

    def __len__(self) -> int:
        return self.n

    def state_dict(self) -> dict[str, Any]:
        return {"i": self.i}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.i = state["i"]


# Programs: each is given a loader's class, and returns what it saw

Make = Callable[[], Any]


def rows(batch: Any) -> Any:
    return batch.tolist() if isinstance(batch, torch.Tensor) else batch


def take(loader: Any, count: int) -> tuple[list[Any], Any]:
    """Run the tutorial's loop: so many batches, then save and leave."""
    seen = []
    state = None
    for number, batch in enumerate(loader, start=1):
        seen.append(rows(batch))
        if number == count:
            state = loader.state_dict()
            break
    return seen, state


def rest(loader: Any) -> list[Any]:
    return [rows(batch) for batch in loader]


def epochs(make: Make) -> Any:
    loader = make()
    return [rest(loader) for _ in range(3)]


def resume(make: Make) -> Any:
    seen, state = take(make(), 2)
    loader = make()
    loader.load_state_dict(state)
    return seen, rest(loader), rest(loader)


def resume_twice(make: Make) -> Any:
    first, state = take(make(), 2)
    loader = make()
    loader.load_state_dict(state)
    second, state = take(loader, 1)
    loader = make()
    loader.load_state_dict(state)
    return first, second, rest(loader), rest(loader)


def resume_in_place(make: Make) -> Any:
    loader = make()
    first, state = take(loader, 3)
    loader.load_state_dict(state)
    return first, rest(loader)


def resume_in_a_later_epoch(make: Make) -> Any:
    loader = make()
    whole = rest(loader)
    seen, state = take(loader, 2)
    other = make()
    other.load_state_dict(state)
    return whole, seen, rest(other), rest(other)


def resume_at_the_last_batch(make: Make) -> Any:
    loader = make()
    count = len(rest(make()))
    seen, state = take(loader, count)
    other = make()
    other.load_state_dict(state)
    return seen, rest(other), rest(other)


def save_at_the_end(make: Make) -> Any:
    loader = make()
    seen = rest(loader)
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    return seen, rest(other), rest(other)


def save_before_the_first_batch(make: Make) -> Any:
    loader = make()
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    return rest(loader), rest(other), rest(other)


def load_twice(make: Make) -> Any:
    _, one = take(make(), 1)
    _, three = take(make(), 3)
    loader = make()
    loader.load_state_dict(one)
    loader.load_state_dict(three)
    return rest(loader), rest(loader)


def break_off(make: Make) -> Any:
    loader = make()
    first, _ = take(loader, 2)
    return first, rest(loader), rest(loader)


LOADERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "map": (Squares, {"batch_size": 3}),
    "map, dropping": (Squares, {"batch_size": 3, "drop_last": True}),
    "sampler": (Squares, {"batch_size": 2, "sampler": OwnSampler}),
    "iterator": (StateInIterator, {"batch_size": 2}),
    "iterator, unbatched": (StateInIterator, {"batch_size": None}),
    "iterator, every 3": (StateInIterator, {"batch_size": 2, "snapshot_every_n_steps": 3}),
    "dataset": (StateInDataset, {"batch_size": 2}),
}

PROGRAMS: tuple[Any, ...] = (
    epochs,
    resume,
    resume_twice,
    resume_in_place,
    resume_in_a_later_epoch,
    load_twice,
    break_off,
    save_before_the_first_batch,
    save_at_the_end,
    resume_at_the_last_batch,
)
WITH_WORKERS: tuple[Any, ...] = (resume_twice, break_off, save_at_the_end)

FAULTS = {
    # Without workers a pass that was broken off goes on in the next epoch.
    (break_off, "dataset", 0),
    # Batches that its workers drew ahead are lost, or delivered in another epoch.
    (break_off, "sampler", 2),
    (save_at_the_end, "sampler", 2),
    # The epoch whose last batch was delivered is begun once more, with a sampler's state only,
    (resume_at_the_last_batch, "sampler", 0),
    # and half of it with a dataset's state in two workers.
    (resume_at_the_last_batch, "dataset", 2),
}
"""Runs in which torchdata 0.11.0 differs from its own other runs; see the migration page."""

CASES = [
    *((program, name, 0) for program in PROGRAMS for name in LOADERS),
    *((p, name, 2) for p in WITH_WORKERS for name in ("map", "sampler", "iterator", "dataset")),
    (resume_at_the_last_batch, "dataset", 2),
]


@pytest.mark.parametrize(("program", "name", "workers"), CASES)
def test_a_program_sees_the_same(program: Any, name: str, workers: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torchdata says that it skips forward
        theirs = run(program, name, torchdata.StatefulDataLoader, workers)
    ours = run(program, name, midepoch.StatefulDataLoader, workers)
    assert (ours != theirs) == ((program, name, workers) in FAULTS)


def run(program: Any, name: str, loader: Any, workers: int) -> Any:
    dataset, arguments = LOADERS[name]

    def make() -> Any:
        given = dict(arguments)
        if "sampler" in given:
            given["sampler"] = given["sampler"](13)
        return loader(dataset(), num_workers=workers, **given)

    return program(make)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", LOADERS)
def test_after_the_last_batch_comes_the_rest_which_is_empty_and_then_an_epoch(
    name: str, workers: int
) -> None:
    told = run(resume_at_the_last_batch, name, midepoch.StatefulDataLoader, workers)
    whole, left, following = told
    assert left == []
    assert following == whole


def test_an_epoch_after_a_break_goes_on_where_the_delivered_batches_ended() -> None:
    expected = run(break_off, "sampler", midepoch.StatefulDataLoader, 0)
    for workers in (1, 2):
        assert run(break_off, "sampler", midepoch.StatefulDataLoader, workers) == expected
