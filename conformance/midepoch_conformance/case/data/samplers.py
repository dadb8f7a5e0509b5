"""The samplers of users that loaders break on.

As in ``sources.py``, each class is small and needs no other: a failure's script holds only the
class that it needs. The classes need of a workload ``w`` no more than ``w.n``, ``w.seed``,
``w.batch_size`` and ``w.fail_at``; one sends an interrupt.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

__all__ = [
    "SAMPLERS", "Arrays", "Batches", "Custom", "Dated", "Drawing", "Halted", "Integers", "Keys",
    "Listed", "Pairs", "Permuting", "Prepared", "Raising", "Refilled", "Stateful", "Turning",
    "Unsized", "Wrapped",
]  # fmt: skip


class Custom:
    """A user's plain sampler: its generator draws when a pass begins, and again for each id.

    It draws Gaussians: of an odd number of them the generator keeps one more in its state.
    """

    def __init__(self, w: Any) -> None:
        self.n, self.generator = w.n, random.Random(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        return self.order(self.generator, self.n)

    @staticmethod
    def order(generator: random.Random, n: int) -> Iterator[int]:
        """Return the ids: shuffled at once, and then taken one by one, each by a Gaussian."""
        left = list(range(n))
        generator.shuffle(left)
        return (left.pop(int(generator.gauss(0, 1) * 10**6) % len(left)) for _ in range(n))


class Batches:
    """A user's batch sampler: neighbours in a batch, the batches in an order of their own."""

    def __init__(self, w: Any) -> None:
        self.generator = random.Random(w.seed)
        self.batches = [
            list(range(i, min(i + w.batch_size, w.n))) for i in range(0, w.n, w.batch_size)
        ]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[list[int]]:
        order = list(self.batches)
        self.generator.shuffle(order)
        yield from order


class Stateful:
    """A user's Stateful sampler: each pass has an order of its own, and the state is a place."""

    def __init__(self, w: Any) -> None:
        self.n, self.seed, self.passes, self.position, self.loaded = w.n, w.seed, 0, 0, False

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        self.position, self.loaded = self.position if self.loaded else 0, False
        return self.indices()

    def indices(self) -> Iterator[int]:
        """Yield the rest of the pass."""
        order = list(range(self.n))
        random.Random(f"{self.seed}/{self.passes}").shuffle(order)
        while self.position < self.n:
            self.position += 1
            yield order[self.position - 1]
        self.passes, self.position = self.passes + 1, 0

    def state_dict(self) -> dict[str, int]:
        """Return the place."""
        return {"passes": self.passes, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from a place, once."""
        self.passes, self.position, self.loaded = state["passes"], state["position"], True


class Drawing:
    """A user's Stateful sampler that draws each id, of those that are left, when it is asked."""

    def __init__(self, w: Any) -> None:
        self.n, self.generator, self.loaded = w.n, random.Random(w.seed), False
        self.left = list(range(w.n))

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        self.left, self.loaded = self.left if self.loaded else list(range(self.n)), False
        return self.indices()

    def indices(self) -> Iterator[int]:
        """Yield the rest of the pass."""
        while self.left:
            yield self.left.pop(self.generator.randrange(len(self.left)))

    def state_dict(self) -> dict[str, Any]:
        """Return what is left, and the generator."""
        return {"left": list(self.left), "generator": self.generator.getstate()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue with what was left, once."""
        version, words, gauss = state["generator"]
        self.generator.setstate((version, tuple(words), gauss))
        self.left, self.loaded = list(state["left"]), True


class Permuting:
    """A user's Stateful sampler: each pass draws an order from the global streams, and keeps it."""

    def __init__(self, w: Any) -> None:
        self.n, self.loaded = w.n, False
        self.left: list[int] | None = None  # no pass has begun

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        import numpy
        import torch

        drawn = random.random(), float(numpy.random.random()), float(torch.rand(()))
        if self.left is None or not self.loaded:
            self.left = list(range(self.n))
            random.Random(str(drawn)).shuffle(self.left)
        self.loaded = False
        return self.indices(self.left)

    @staticmethod
    def indices(left: list[int]) -> Iterator[int]:
        """Yield the rest of the pass."""
        while left:
            yield left.pop()

    def state_dict(self) -> dict[str, Any]:
        """Return what is left."""
        return {"left": None if self.left is None else list(self.left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue with what was left, once."""
        left = state["left"]
        self.left, self.loaded = None if left is None else list(left), True


class Wrapped:
    """A user's sampler around a sampler around a third one, which has the generator."""

    def __init__(self, w: Any, around: int = 2) -> None:
        self.n = w.n
        if around:
            self.sampler = type(self)(w, around - 1)
        else:
            self._generator = random.Random(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        if hasattr(self, "sampler"):
            return iter(self.sampler)
        order = list(range(self.n))
        self._generator.shuffle(order)
        return iter(order)


class Keys:
    """A user's sampler of keys ``[shard, place]``: a generator for the shards, and two within.

    One of the two is NumPy's, and the others are Python's. The last one is private.
    """

    def __init__(self, w: Any) -> None:
        import numpy

        self.n, self.shards = w.n, random.Random(w.seed)
        self.within, self._turns = numpy.random.default_rng(w.seed), random.Random(w.seed + 1)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[list[int]]:
        shards = list(range(0, self.n, 4))
        self.shards.shuffle(shards)
        for first in shards:
            places = list(range(min(4, self.n - first)))
            self.within.shuffle(places)
            if self._turns.random() < 0.5:
                places.reverse()
            yield from ([first // 4, place] for place in places)


class Pairs:
    """A user's sampler of keys that are tuples ``(shard, place)``."""

    def __init__(self, w: Any) -> None:
        self.n, self.generator = w.n, random.Random(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        order = list(range(self.n))
        self.generator.shuffle(order)
        return (divmod(i, 4) for i in order)


class Prepared:
    """A user's sampler that makes its order when its epoch is set, not when it is iterated."""

    def __init__(self, w: Any) -> None:
        self.n, self.seed = w.n, w.seed
        self.set_epoch(0)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        return iter(self.order)

    def set_epoch(self, epoch: int) -> None:
        """Order the ids for an epoch."""
        self.epoch, self.order = epoch, list(range(self.n))
        random.Random(f"{self.seed}/{epoch}").shuffle(self.order)


class Raising:
    """A user's sampler that raises in place of an index, and can be asked for the next one."""

    def __init__(self, w: Any) -> None:
        self.n, self.fail_at = w.n, w.fail_at

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        return map(self.index, range(self.n))

    def index(self, place: int) -> int:
        """Return the index of a place."""
        if place == self.fail_at:
            raise ValueError(f"index {place} fails on purpose")
        return place


class Halted:
    """A user's sampler with a generator: Ctrl-C comes once, before it gives the index of a place.

    The dataset gives every sample, if the workload has ``fails_in="sampler"``.
    """

    def __init__(self, w: Any) -> None:
        self.w, self.n, self.generator = w, w.n, random.Random(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        order = list(range(self.n))
        self.generator.shuffle(order)
        for place, index in enumerate(order):
            if place == self.w.interrupt_at:
                self.w.interrupt()
            yield index


class Integers:
    """A user's sampler that gives NumPy's integers, which a generator of NumPy's shuffles."""

    def __init__(self, w: Any) -> None:
        import numpy

        self.n, self.generator = w.n, numpy.random.default_rng(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.generator.permutation(self.n))


class Arrays:
    """A user's batch sampler that gives arrays, which a generator of NumPy's shuffles."""

    def __init__(self, w: Any) -> None:
        import numpy

        self.n, self.size, self.generator = w.n, w.batch_size, numpy.random.default_rng(w.seed)

    def __len__(self) -> int:
        return int(-(-self.n // self.size))

    def __iter__(self) -> Iterator[Any]:
        order = self.generator.permutation(self.n)
        return (order[i : i + self.size] for i in range(0, self.n, self.size))


class Unsized:
    """A user's sampler without a length, whose generator shuffles when a pass begins."""

    def __init__(self, w: Any) -> None:
        self.n, self.generator = w.n, random.Random(w.seed)

    def __iter__(self) -> Iterator[int]:
        left = list(range(self.n))
        self.generator.shuffle(left)
        return iter(left)


class Refilled:
    """A user's batch sampler that fills one list again and again, and gives it each time."""

    def __init__(self, w: Any) -> None:
        self.n, self.size, self.generator = w.n, w.batch_size, random.Random(w.seed)

    def __len__(self) -> int:
        return int(-(-self.n // self.size))

    def __iter__(self) -> Iterator[list[int]]:
        starts, batch = list(range(0, self.n, self.size)), list[int]()
        self.generator.shuffle(starts)
        for start in starts:
            batch[:] = range(start, min(start + self.size, self.n))
            yield batch


class Dated:
    """A user's Stateful sampler whose epoch the user sets: its state is that epoch and a place."""

    def __init__(self, w: Any) -> None:
        self.n, self.seed, self.epoch, self.position, self.loaded = w.n, w.seed, 0, 0, False

    def __len__(self) -> int:
        return int(self.n)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the pass that comes."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        start, self.loaded = self.position if self.loaded else 0, False
        order = list(range(self.n))
        random.Random(f"{self.seed}/{self.epoch}").shuffle(order)
        for place in range(start, self.n):
            self.position = place + 1
            yield order[place]
        self.position = 0

    def state_dict(self) -> dict[str, int]:
        """Return the epoch and the place."""
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from a place of an epoch, once."""
        self.epoch, self.position, self.loaded = state["epoch"], state["position"], True


class Turning:
    """A user's sampler that its epoch turns, and a generator of its own shuffles."""

    epoch = 0

    def __init__(self, w: Any) -> None:
        self.n, self.generator = w.n, random.Random(w.seed)

    def __len__(self) -> int:
        return int(self.n)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the pass that comes."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        order = list(range(self.n))
        self.generator.shuffle(order)
        return (order[(place + self.epoch) % self.n] for place in range(self.n))


class Listed:
    """A user's list of ids, made once and without a generator: each pass has the same order."""

    def __init__(self, w: Any) -> None:
        self.indices = list(range(w.n))
        random.Random(w.seed).shuffle(self.indices)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)


SAMPLERS: dict[str, Any] = {
    "custom": Custom, "batches": Batches, "stateful": Stateful, "wrapped": Wrapped, "keys": Keys,
    "prepared": Prepared, "drawing": Drawing, "permuting": Permuting,
    "raising": Raising, "integers": Integers, "arrays": Arrays, "pairs": Pairs,
    "refilled": Refilled, "unsized": Unsized, "listed": Listed, "dated": Dated,
    "halted": Halted, "turning": Turning,
}  # fmt: skip
"""The samplers that are the user's own; all others are torch's."""
