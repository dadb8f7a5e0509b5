"""The programs whose states are recorded: what a loader is built of, without the loader.

Needs torch alone: the recorder runs it beside any version of torchdata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import (
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    get_worker_info,
)

SAMPLES = 11
SHARES = (7, 2, 5)
"""Samples of each worker's share, so that workers end at different times."""


class Numbers(Dataset[int]):
    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> int:
        return index


class CountingNumbers(Numbers):
    """Map-style with state: a sample tells how many were got before it."""

    def __init__(self) -> None:
        self.got = 0

    def __getitem__(self, index: int) -> int:
        self.got += 1
        return 1000 * self.got + index

    def state_dict(self) -> dict[str, Any]:
        return {"got": self.got}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.got = state["got"]


def share() -> range:
    """The numbers that the present worker gives."""
    info = get_worker_info()
    worker = 0 if info is None else info.id
    return range(100 * worker, 100 * worker + SHARES[worker])


class Plain(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(share())


class Short(IterableDataset[int]):
    """Fewer numbers than were recorded."""

    def __iter__(self) -> Iterator[int]:
        return iter(share()[:1])


class Seeking(IterableDataset[int]):
    """The state is the dataset's own, its iterator a generator."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        numbers = share()
        while self.at < len(numbers):
            self.at += 1
            yield numbers[self.at - 1]
        self.at = 0

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "nested": {"tensor": torch.tensor([self.at])}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class OwnIterator(Seeking):
    """The dataset is its own iterator."""

    def __iter__(self) -> Iterator[int]:
        self.at = 0
        return self

    def __next__(self) -> int:
        numbers = share()
        if self.at >= len(numbers):
            raise StopIteration
        self.at += 1
        return numbers[self.at - 1]


class Cursor(Iterator[int]):
    """An iterator with state over any numbers."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers
        self.at = 0

    def __next__(self) -> int:
        if self.at >= len(self.numbers):
            raise StopIteration
        self.at += 1
        return self.numbers[self.at - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class Cursors(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return Cursor(share())


class Reversed(Sampler[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(SAMPLES - 1, -1, -1))

    def __len__(self) -> int:
        return SAMPLES


class CursorSampler(Reversed):
    def __iter__(self) -> Iterator[int]:
        return Cursor(list(range(SAMPLES - 1, -1, -1)))


class TurningSampler(Reversed):
    """With a state of its own: each pass begins at another number."""

    def __init__(self) -> None:
        self.turn = 0
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < SAMPLES:
            self.at += 1
            yield (3 * self.turn + self.at - 1) % SAMPLES
        self.at = 0
        self.turn += 1

    def state_dict(self) -> dict[str, Any]:
        return {"turn": self.turn, "at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.turn, self.at = state["turn"], state["at"]


class TurningBatches(Sampler[list[int]]):
    """The same, of batches."""

    def __init__(self) -> None:
        self.inner = TurningSampler()

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        while self.inner.at < SAMPLES:
            self.inner.at += 1
            batch.append((3 * self.inner.turn + self.inner.at - 1) % SAMPLES)
            if len(batch) == 4 or self.inner.at == SAMPLES:
                yield batch
                batch = []
        self.inner.at = 0
        self.inner.turn += 1

    def __len__(self) -> int:
        return 3

    def state_dict(self) -> dict[str, Any]:
        return self.inner.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.inner.load_state_dict(state)


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(7)


Arguments = dict[str, Any]

PROGRAMS: dict[str, Callable[[], Arguments]] = {
    "sequential": lambda: {"dataset": Numbers(), "batch_size": 2},
    "sequential-drop": lambda: {"dataset": Numbers(), "batch_size": 3, "drop_last": True},
    "sequential-unbatched": lambda: {"dataset": Numbers(), "batch_size": None},
    "shuffle": lambda: {"dataset": Numbers(), "batch_size": 2, "shuffle": True},
    "shuffle-generator": lambda: {
        "dataset": Numbers(),
        "batch_size": 2,
        "shuffle": True,
        "generator": _seeded(),
    },
    "shuffle-generator-drop": lambda: {
        "dataset": Numbers(),
        "batch_size": 3,
        "shuffle": True,
        "drop_last": True,
        "generator": _seeded(),
    },
    "shuffle-unbatched": lambda: {"dataset": Numbers(), "batch_size": None, "shuffle": True},
    "shuffle-generator-unbatched": lambda: {
        "dataset": Numbers(),
        "batch_size": None,
        "shuffle": True,
        "generator": _seeded(),
    },
    "sampler-plain": lambda: {"dataset": Numbers(), "batch_size": 2, "sampler": Reversed()},
    "sampler-cursor": lambda: {"dataset": Numbers(), "batch_size": 2, "sampler": CursorSampler()},
    "sampler-stateful": lambda: {
        "dataset": Numbers(),
        "batch_size": 2,
        "sampler": TurningSampler(),
    },
    "sampler-random": lambda: {
        "dataset": Numbers(),
        "batch_size": 2,
        "sampler": RandomSampler(range(SAMPLES), generator=_seeded()),
    },
    "sampler-random-global": lambda: {
        "dataset": Numbers(),
        "batch_size": 2,
        "sampler": RandomSampler(range(SAMPLES)),
    },
    "sampler-distributed": lambda: {
        "dataset": Numbers(),
        "batch_size": 2,
        "sampler": DistributedSampler(Numbers(), num_replicas=2, rank=1),
    },
    "batches-stateful": lambda: {"dataset": Numbers(), "batch_sampler": TurningBatches()},
    "map-stateful": lambda: {"dataset": CountingNumbers(), "batch_size": 2},
    "map-stateful-shuffle": lambda: {
        "dataset": CountingNumbers(),
        "batch_size": 2,
        "shuffle": True,
        "generator": _seeded(),
    },
    "iterable-plain": lambda: {"dataset": Plain(), "batch_size": 2},
    "iterable-unbatched": lambda: {"dataset": Plain(), "batch_size": None},
    "iterable-seeking-unbatched": lambda: {"dataset": Seeking(), "batch_size": None},
    "iterable-drop": lambda: {"dataset": Seeking(), "batch_size": 2, "drop_last": True},
    "iterable-seeking": lambda: {"dataset": Seeking(), "batch_size": 2},
    "iterable-own": lambda: {"dataset": OwnIterator(), "batch_size": 2},
    "iterable-cursor": lambda: {"dataset": Cursors(), "batch_size": 2},
}


def rows(batch: Any) -> Any:
    """A batch as plain numbers."""
    return batch.tolist() if isinstance(batch, torch.Tensor) else batch
