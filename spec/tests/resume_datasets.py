"""The datasets and samplers of the resume vectors, as ``vectors/README.md`` describes them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

__all__ = [
    "Counter",
    "Cursor",
    "Map",
    "Marked",
    "Permuted",
    "Reversed",
    "Spun",
    "Stream",
    "Tally",
    "Turned",
    "dataset_of",
    "samplers_of",
]

Row = list[float]


def row(index: int, draws: bool) -> Row:
    """Return the sample of one id."""
    if not draws:
        return [index]
    drawn = [random.random(), np.random.random_sample()]
    return [index, *drawn, torch.rand((), dtype=torch.float64).item()]


def ids(length: int) -> range:
    """Return the ids of this lane."""
    info = get_worker_info()
    return range(length) if info is None else range(info.id, length, info.num_workers)


class Map(Dataset[Row]):
    """Map-style."""

    def __init__(self, length: int, draws: bool) -> None:
        self.length = length
        self.draws = draws

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Row:
        return row(index, self.draws)


class Tally(Map):
    """Map-style and Stateful: each sample also tells how many this copy had made before it."""

    def __init__(self, length: int, draws: bool) -> None:
        super().__init__(length, draws)
        self.count = 0

    def __getitem__(self, index: int) -> Row:
        self.count += 1
        return [*row(index, self.draws), self.count - 1]

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


class Stream(IterableDataset[Row]):
    """Iterable, without a state."""

    def __init__(self, length: int, draws: bool) -> None:
        self.length = length
        self.draws = draws

    def __iter__(self) -> Iterator[Row]:
        for index in ids(self.length):
            yield row(index, self.draws)


class _Numbers:
    """A Stateful iterator."""

    def __init__(self, lane: range, draws: bool) -> None:
        self._lane = lane
        self._draws = draws
        self._next = lane.start

    def __iter__(self) -> _Numbers:
        return self

    def __next__(self) -> Row:
        if self._next >= self._lane.stop:
            raise StopIteration
        index, self._next = self._next, self._next + self._lane.step
        return row(index, self._draws)

    def state_dict(self) -> dict[str, int]:
        return {"next": self._next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._next = state["next"]


class Counter(Stream):
    """Iterable with a Stateful iterator."""

    def __iter__(self) -> Iterator[Row]:
        return _Numbers(ids(self.length), self.draws)


class Cursor(Stream):
    """Iterable, Stateful itself; a loaded position is used up by the next started iteration."""

    _next: int | None = None
    _loaded: int | None = None

    def __iter__(self) -> Iterator[Row]:
        lane = ids(self.length)
        index = lane.start if self._loaded is None else self._loaded
        self._loaded = None
        while index < lane.stop:
            self._next = index + lane.step
            yield row(index, self.draws)
            index = self._next

    def state_dict(self) -> dict[str, int | None]:
        return {"next": self._next}

    def load_state_dict(self, state: dict[str, int | None]) -> None:
        self._next = self._loaded = state["next"]


class Reversed(Sampler[int]):
    """The ids from the last to the first."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.length - 1, -1, -1))


class Permuted(Reversed):
    """A new order in each epoch, drawn from torch's default generator."""

    def __iter__(self) -> Iterator[int]:
        yield from torch.randperm(self.length).tolist()


class Marked(Reversed):
    """The same ids, Stateful; a loaded position is used up by the next started iteration."""

    _next: int | None = None
    _loaded: int | None = None

    def __iter__(self) -> Iterator[int]:
        index = self.length - 1 if self._loaded is None else self._loaded
        self._loaded = None
        while index >= 0:
            self._next = index - 1
            yield index
            index = self._next

    def state_dict(self) -> dict[str, int | None]:
        return {"next": self._next}

    def load_state_dict(self, state: dict[str, int | None]) -> None:
        self._next = self._loaded = state["next"]


class Turned(Reversed):
    """The ids from the one that its epoch names; each whole pass begins the next epoch."""

    epoch = 0

    def __iter__(self) -> Iterator[int]:
        first, epoch = 3 * self.epoch, self.epoch
        for index in range(self.length):
            yield (first + index) % self.length
        self.epoch = epoch + 1


class Spun(Reversed):
    """The ids from one that each pass draws from a generator of its own."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.generator = np.random.default_rng(length)

    def __iter__(self) -> Iterator[int]:
        first = int(self.length * self.generator.random())
        for index in range(self.length):
            yield (first + index) % self.length


_DATASETS: dict[str, type[Map] | type[Stream]] = {
    "map": Map,
    "tally": Tally,
    "stream": Stream,
    "counter": Counter,
    "cursor": Cursor,
}
_SAMPLERS: dict[str, type[Reversed]] = {
    "reversed": Reversed,
    "permuted": Permuted,
    "marked": Marked,
    "turned": Turned,
    "spun": Spun,
}


def dataset_of(described: dict[str, Any]) -> Map | Stream:
    """Return the dataset that a vector describes."""
    return _DATASETS[described["kind"]](described["length"], described["draws"])


def samplers_of(described: dict[str, Any]) -> dict[str, Any]:
    """Return a loader's arguments for the custom sampler that a vector describes, if any."""
    name, length = described["sampler"], described["length"]
    return {} if name is None else {"sampler": _SAMPLERS[name](length)}
