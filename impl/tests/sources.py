"""Datasets and samplers of every kind, for the loader's tests; picklable, hence in a module."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

Row = list[float]


def row(index: int) -> Row:
    """Return a row whose values come from all three global streams."""
    return [
        float(index),
        float(torch.randint(1 << 20, ()).item()),
        float(random.randrange(1 << 20)),
        float(np.random.randint(1 << 20)),
    ]


def shard(n: int) -> range:
    info = get_worker_info()
    return range(n) if info is None else range(info.id, n, info.num_workers)


class Plain(Dataset[Any]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        return row(index)


class Counting(Plain):
    """Map-style with a state that shows in its rows."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.served = 0
        self.calls = 0

    def __getitem__(self, index: int) -> Any:
        self.served += 1
        return [*row(index), float(self.served)]

    def state_dict(self) -> dict[str, Any]:
        self.calls += 1
        return {"served": self.served}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.served = state["served"]


class Stream(IterableDataset[Any]):
    """A generator, without a state."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[Any]:
        for index in shard(self.n):
            yield row(index)


class Resuming(IterableDataset[Any]):
    """Keeps a loaded position until a started generator takes it: the commonest kind."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.at = 0
        self.start = 0
        self.iters = 0

    def __iter__(self) -> Iterator[Any]:
        self.iters += 1
        return self._rows()

    def _rows(self) -> Iterator[Row]:
        start, self.start = self.start, 0
        self.at = start
        for index in shard(self.n)[start:]:
            self.at += 1
            yield row(index)

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.start = state["at"]


class Passing(Resuming):
    """The same, and its rows tell how many passes were begun."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.passes = 0
        self.resumed = False

    def _rows(self) -> Iterator[Row]:
        if self.resumed:
            self.resumed = False
        else:
            self.passes += 1
        for values in super()._rows():
            yield [*values, float(self.passes)]

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.passes = state["passes"]
        self.resumed = True


class OwnIterator(IterableDataset[Any]):
    """Its own iterator; ``iter`` begins anew."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.at = 0

    def __iter__(self) -> Iterator[Any]:
        self.at = 0
        return self

    def __next__(self) -> Row:
        mine = shard(self.n)
        if self.at >= len(mine):
            raise StopIteration
        self.at += 1
        return row(mine[self.at - 1])

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class _Cursor(Iterator[Row]):
    def __init__(self, n: int) -> None:
        self.mine = shard(n)
        self.at = 0

    def __next__(self) -> Row:
        if self.at >= len(self.mine):
            raise StopIteration
        self.at += 1
        return row(self.mine[self.at - 1])

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class Cursors(IterableDataset[Any]):
    """Only its iterators have a state."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[Any]:
        return _Cursor(self.n)


class Buffered(IterableDataset[Any]):
    """A shuffle buffer, drawn from the global stream and part of the state."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.at = 0
        self.buffer: list[int] = []
        self.loaded = False

    def __iter__(self) -> Iterator[Any]:
        mine = shard(self.n)
        if not self.loaded:
            self.at, self.buffer = 0, []
        self.loaded = False
        while self.at < len(mine) or self.buffer:
            while self.at < len(mine) and len(self.buffer) < 4:
                self.buffer.append(mine[self.at])
                self.at += 1
            yield row(self.buffer.pop(random.randrange(len(self.buffer))))

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "buffer": list(self.buffer)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at, self.buffer = state["at"], list(state["buffer"])
        self.loaded = True


STREAMS = (Stream, Resuming, Passing, OwnIterator, Cursors, Buffered)
MAPS = (Plain, Counting)


class Lively(Sampler[int]):
    """No state: draws from a global stream, and from a generator of its own."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.generator = torch.Generator()
        self.generator.manual_seed(3)
        self.rng = random.Random(4)

    def __iter__(self) -> Iterator[int]:
        for index in torch.randperm(self.n, generator=self.generator).tolist():
            yield (index + random.randrange(3) + self.rng.randrange(3)) % self.n

    def __len__(self) -> int:
        return self.n


class SkippingSampler(Sampler[int]):
    """Stateful as torchdata's distributed sampler is: a loaded position waits for a start."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.epoch = 0
        self.yielded = 0
        self.next_yielded: int | None = None

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        self.yielded = 0
        if self.next_yielded is not None:
            self.yielded, self.next_yielded = self.next_yielded, None
        order = list(range(self.n))
        random.Random(self.epoch).shuffle(order)
        for index in order[self.yielded :]:
            self.yielded += 1
            yield index

    def __len__(self) -> int:
        return self.n

    def state_dict(self) -> dict[str, Any]:
        return {"yielded": self.yielded}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.next_yielded = state["yielded"]


class EpochCountingSampler(Sampler[int]):
    """Stateful: goes through its own epochs by itself, and continues where it is."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.passes = 0
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < self.n:
            self.at += 1
            yield (self.at * 5 + self.passes) % self.n
        self.at = 0
        self.passes += 1

    def __len__(self) -> int:
        return self.n

    def state_dict(self) -> dict[str, Any]:
        return {"passes": self.passes, "at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.passes, self.at = state["passes"], state["at"]


class Buckets(Sampler[list[int]]):
    """A batch sampler of uneven batches, Stateful through its iterator."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[list[int]]:
        return BucketIterator(self.n)

    def __len__(self) -> int:
        return self.n


class BucketIterator(Iterator[list[int]]):
    def __init__(self, n: int) -> None:
        self.n = n
        self.at = 0

    def __next__(self) -> list[int]:
        if self.at >= self.n:
            raise StopIteration
        size = 1 + self.at % 3
        batch = list(range(self.at, min(self.n, self.at + size)))
        self.at += size
        return batch

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


SAMPLERS = (Lively, SkippingSampler, EpochCountingSampler)
