"""Datasets and samplers whose batches show every seed and every error that a state has to keep."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from second_loader import Making, Place, worker_information
from sources import (
    MAPS,
    STREAMS,
    BucketIterator,
    Buckets,
    Counting,
    EpochCountingSampler,
    Lively,
    Plain,
    Resuming,
    Row,
    SkippingSampler,
    Stream,
    row,
    shard,
)
from torch.utils.data import Sampler, get_worker_info

import midepoch

MAKING: list[Making | None] = []


@contextmanager
def informed(place: Place | None, making: Making | None) -> Iterator[None]:
    """Tell datasets their place and the batch that they make, as the second loader knows them."""
    MAKING.append(making)
    try:
        with worker_information(place, making):
            yield
    finally:
        MAKING.pop()


def private() -> Row:
    """Return the place of the batch that is being made, and its private seed."""
    info: Any = MAKING[-1] if MAKING else midepoch.batch_info()
    return [float(info.epoch), float(info.index), float(info.lane), float(info.seed)]


def set_up(lane: int) -> None:
    """Set a lane up: with its number, draws and the seed of its worker information."""
    info = get_worker_info()
    assert info is not None
    dataset: Any = info.dataset
    dataset.told = [float(lane), float(info.seed), random.random()]
    dataset.told.append(float(np.random.random_sample()))


class Told(Plain):
    """Shows how its lane was set up, and each batch's own place."""

    told: Row = []  # noqa: RUF012 - replaced as a whole

    def __getitem__(self, index: int) -> Any:
        return [*row(index), *self.told, *private()]


class Listed(Plain):
    """Is asked for whole batches, and cannot read some of its samples."""

    def __getitem__(self, index: int) -> Any:
        if index % 5 == 3:
            raise OSError(f"sample {index}")
        return row(index)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]


class Faulty(Counting):
    """Stateful, and cannot read some of its samples."""

    def __getitem__(self, index: int) -> Any:
        found = super().__getitem__(index)
        if index % 4 == 1:
            raise OSError(f"sample {index}")
        return found


class Begun(Stream):
    """Draws when it is iterated, and shows how its lane was set up and each batch's place."""

    told: Row = []  # noqa: RUF012 - replaced as a whole

    def __iter__(self) -> Iterator[Any]:
        drawn = [random.random(), torch.rand(()).item()]
        return ([*row(index), *self.told, *drawn, *private()] for index in shard(self.n))


class Broken(Stream):
    """A generator that cannot read a sample, and has ended then."""

    def __iter__(self) -> Iterator[Any]:
        for index in shard(self.n):
            if index % 7 == 4:
                raise OSError(f"sample {index}")
            yield row(index)


class _GoingOn(BucketIterator):
    def __init__(self, mine: range) -> None:
        self.mine = mine
        self.at = 0

    def __next__(self) -> Any:
        if self.at >= len(self.mine):
            raise StopIteration
        index, self.at = self.mine[self.at], self.at + 1
        if index % 3 == 1:
            raise OSError(f"sample {index}")
        return row(index)


class GoingOn(Stream):
    """Its Stateful iterator goes on after the samples that it cannot read."""

    def __iter__(self) -> Iterator[Any]:
        return _GoingOn(shard(self.n))


class Both(Stream):
    """Stateful, and so are its iterators: it counts the passes that ended, and rows show them."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.ends = 0

    def __iter__(self) -> Iterator[Any]:
        return _Counting(self)

    def state_dict(self) -> dict[str, Any]:
        return {"ends": self.ends}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.ends = state["ends"]


class _Counting(BucketIterator):
    def __init__(self, dataset: Both) -> None:
        self.dataset, self.at = dataset, 0

    def __next__(self) -> Any:
        mine = shard(self.dataset.n)
        if self.at >= len(mine):
            self.dataset.ends += 1
            raise StopIteration
        self.at += 1
        return [*row(mine[self.at - 1]), float(self.dataset.ends)]


class Unsteady(Resuming):
    """Stateful, and cannot tell its state at every place."""

    def state_dict(self) -> dict[str, Any]:
        if self.at % 3 != 1:
            raise OSError(f"no state at {self.at}")
        return super().state_dict()


class Ending(Unsteady):
    """Keeps a loaded position for one iteration, and cannot read some samples."""

    state_dict = Resuming.state_dict

    def __iter__(self) -> Iterator[Any]:
        return _Unsaved(_Failing(self._rows()))


class _Failing:
    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __next__(self) -> Any:
        found = next(self.rows)
        if found[0] % 3 == 1:
            raise OSError(f"sample {found[0]}")
        return found


class _Unsaved:
    """An iterator without a state."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __iter__(self) -> _Unsaved:
        return self

    def __next__(self) -> Any:
        return next(self.held)


class GoingOnUnsaved(Stream):
    """Its iterator goes on, and has no state."""

    def __iter__(self) -> Iterator[Any]:
        return _Unsaved(_GoingOn(shard(self.n)))


class Drawing(EpochCountingSampler):
    """Stateful: draws when a pass begins. A loaded end is kept for the first iteration alone."""

    start = 0

    def draw(self) -> int:
        return random.randrange(self.n)

    def __iter__(self) -> Iterator[int]:
        offset = self.draw()
        self.at, self.start = self.start, 0
        while self.at < self.n:
            self.at += 1
            yield (self.at + offset) % self.n

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.start = state["at"]


class DrawingItsOwn(Drawing):
    """Draws from a generator of its own."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.generator = np.random.default_rng(5)

    def draw(self) -> int:
        return int(self.generator.integers(self.n))


class Legacy(Lively):
    """No state: a `RandomState`, a Philox and NumPy's integers."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.legacy = np.random.RandomState(6)
        self.philox = np.random.Generator(np.random.Philox(7))

    def __iter__(self) -> Iterator[Any]:
        yield from self.legacy.permutation(self.n)
        yield self.philox.integers(self.n)


class _Ids(BucketIterator):
    def __next__(self) -> Any:
        self.at += 1
        if self.at > self.n:
            raise StopIteration
        if self.at % 6 == 4:
            raise OSError(f"id {self.at - 1}")
        return self.n - self.at


class Iterated(Lively):
    """Stateful through its iterator, which goes on after the ids that it cannot give."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[Any]:
        return _Ids(self.n)


class Own(Lively):
    """Its own iterator; its passes go through ever other ids."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.at = self.passes = 0

    def __iter__(self) -> Iterator[int]:
        self.at, self.passes = 0, self.passes + 1
        return self

    def __next__(self) -> int:
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return (self.at * self.passes) % self.n

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at, self.passes = state["at"], state["passes"]


class Share(Lively):
    """One rank's share of the ids."""

    rank, num_replicas = 1, 2

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, self.n, self.num_replicas))


class Pairs(Buckets):
    """A Stateful batch sampler of a Stateful sampler."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.sampler: Sampler[int] = SkippingSampler(n)
        self.given = 0

    def __iter__(self) -> Iterator[Any]:
        pair: list[int] = []
        for index in self.sampler:
            pair.append(index)
            if len(pair) == 2:
                self.given += 1
                yield (*pair, self.given % self.n)
                pair = []

    def state_dict(self) -> dict[str, Any]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.given = state["given"]


class Around(Pairs):
    """A batch sampler without a state, of a sampler with an epoch and with a generator."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.sampler = Lively(n)
        self.epoch = 0

    def __iter__(self) -> Iterator[Any]:
        found = [(index + self.epoch) % self.n for index in self.sampler]
        yield from (found[i : i + 2] for i in range(0, len(found), 2))

    state_dict = None  # type: ignore[assignment]


DATASETS = {cls.__name__: cls for cls in (*MAPS, Told, Listed, Faulty)}
ITERABLES = {cls.__name__: cls for cls in (*STREAMS, Begun, Broken, GoingOn, GoingOnUnsaved)}
ITERABLES |= {cls.__name__: cls for cls in (Both, Unsteady, Ending)}
SAMPLERS = {cls.__name__: cls for cls in (Lively, SkippingSampler, EpochCountingSampler)}
SAMPLERS |= {cls.__name__: cls for cls in (Legacy, Iterated, Own, Share)}
DRAWING = {cls.__name__: cls for cls in (Drawing, DrawingItsOwn)}
BATCH_SAMPLERS = {cls.__name__: cls for cls in (Buckets, Pairs, Around)}
