"""The datasets and samplers of the resume vectors, as ``vectors/README.md`` describes them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

__all__ = [
    "Counted",
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


class Faulty(Stream):
    """Iterable: its iterator raises in place of some ids, and goes on."""

    def __iter__(self) -> Iterator[Row]:
        return _Faults(ids(self.length), self.draws)


class _Faults:
    def __init__(self, lane: range, draws: bool) -> None:
        self._ids = iter(lane)
        self._draws = draws

    def __iter__(self) -> _Faults:
        return self

    def __next__(self) -> Row:
        index = next(self._ids)
        if index % 4 == 2:
            raise OSError(f"id {index}")
        return row(index, self._draws)


class FaultyCursor(Cursor):
    """The same, Stateful as a cursor is."""

    def __iter__(self) -> Iterator[Row]:
        return _Checked(super().__iter__())


class _Checked:
    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows

    def __iter__(self) -> _Checked:
        return self

    def __next__(self) -> Row:
        found = next(self._rows)
        if found[0] % 4 == 2:
            raise OSError(f"id {found[0]}")
        return found


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


class Counted(Reversed):
    """The same ids; its iterators are Stateful."""

    def __iter__(self) -> Iterator[int]:
        return _Countdown(self.length - 1)


class _Countdown:
    """A Stateful iterator."""

    def __init__(self, first: int) -> None:
        self._next = first

    def __iter__(self) -> _Countdown:
        return self

    def __next__(self) -> int:
        if self._next < 0:
            raise StopIteration
        self._next -= 1
        return self._next + 1

    def state_dict(self) -> dict[str, int]:
        return {"next": self._next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._next = state["next"]


class Shared(Reversed):
    """The odd ids: the share of rank 1 of 2."""

    rank = 1
    num_replicas = 2

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, self.length, self.num_replicas))


class Paired(Sampler[tuple[int, int]]):
    """Pairs of an id of `Marked` and the number of pairs before it; both objects are Stateful."""

    def __init__(self, length: int) -> None:
        self.sampler = Marked(length)
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for index in self.sampler:
            self.count += 1
            yield index, (self.count - 1) % self.sampler.length

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


class Grown(Sampler[list[int]]):
    """Batches of 1, 2, 3, 1, 2, 3, … ids in their order; its iterators are Stateful."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __iter__(self) -> Iterator[list[int]]:
        return _Growing(self.length)


class _Growing:
    """A Stateful iterator."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._batches = self._next = 0

    def __iter__(self) -> _Growing:
        return self

    def __next__(self) -> list[int]:
        if self._next >= self._length:
            raise StopIteration
        first, size = self._next, 1 + self._batches % 3
        self._batches, self._next = self._batches + 1, first + size
        return list(range(first, min(first + size, self._length)))

    def state_dict(self) -> dict[str, int]:
        return {"batches": self._batches, "next": self._next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._batches, self._next = state["batches"], state["next"]


class Nested(Sampler[list[int]]):
    """Pairs of the ids of `Spun`, each shifted by twice the epoch of the batch sampler."""

    epoch = 0

    def __init__(self, length: int) -> None:
        self.sampler = Spun(length)

    def __iter__(self) -> Iterator[list[int]]:
        length, shift = self.sampler.length, 2 * self.epoch
        order = [(index + shift) % length for index in self.sampler]
        yield from (order[i : i + 2] for i in range(0, length, 2))
        self.epoch += 1


_DATASETS: dict[str, type[Map] | type[Stream]] = {
    "map": Map,
    "tally": Tally,
    "stream": Stream,
    "counter": Counter,
    "cursor": Cursor,
    "faulty": Faulty,
    "faulty-cursor": FaultyCursor,
}
_SAMPLERS: dict[str, type[Reversed]] = {
    "reversed": Reversed,
    "permuted": Permuted,
    "marked": Marked,
    "turned": Turned,
    "spun": Spun,
    "counted": Counted,
    "shared": Shared,
}
_BATCH_SAMPLERS: dict[str, type[Paired] | type[Grown] | type[Nested]] = {
    "paired": Paired,
    "grown": Grown,
    "nested": Nested,
}


def dataset_of(described: dict[str, Any]) -> Map | Stream:
    """Return the dataset that a vector describes."""
    return _DATASETS[described["kind"]](described["length"], described["draws"])


def samplers_of(described: dict[str, Any]) -> dict[str, Any]:
    """Return a loader's arguments for the custom sampler that a vector describes, if any."""
    name, length = described["sampler"], described["length"]
    if name in _BATCH_SAMPLERS:
        return {"batch_sampler": _BATCH_SAMPLERS[name](length)}
    return {} if name is None else {"sampler": _SAMPLERS[name](length)}
