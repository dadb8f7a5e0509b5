"""The datasets and samplers of the published vectors, and those that draw beside their samples.

Only cases of midepoch's own format have them. As in ``sources.py``, each class is small and stands
alone, so that a failure's script can hold it.
"""

# A method's documentation stands at its first definition.
# ruff: noqa: D102

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from midepoch_conformance.case.data.sources import Counting, Rng, Row, Source

__all__ = [
    "BATCHES", "ORDERS", "STREAMS", "Begun", "Checked", "Countdown", "Counted", "Counter", "Cursor",
    "Divided", "Drawn", "Faulty", "FaultyCursor", "Growing", "Grown", "Marked", "Nested", "Paired",
    "Permuted", "Reversed", "SetUp", "Shared", "Spun", "Tally", "Turned", "pcg64",
]  # fmt: skip


class Begun(Source):
    """Draws a number of each stream when a pass begins; each row ends with them."""

    def __iter__(self) -> Iterator[Row]:
        self.drawn = self.w.drawn(self.rng)
        return super().__iter__()

    def rows(self) -> Iterator[Row]:
        return ([*row, *self.drawn] for row in super().rows())


class SetUp(Source):
    """Each row ends with the numbers that were drawn when the lane's dataset was set up."""

    def rows(self) -> Iterator[Row]:
        return ([*row, *self.w.begun] for row in super().rows())


class Divided(Source):
    """The rows of a lane's part, which was set when the lane's dataset was set up."""


class Counter:
    """The published "counter": an iterator's state is the id that comes next."""

    def __init__(self, w: Any, shard: list[int], rng: Rng | None = None) -> None:
        self.w, self.shard, self.rng = w, shard, rng
        self.step = shard[1] - shard[0] if len(shard) > 1 else w.n
        self.next: int | None = shard[0] if shard else w.n

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    def rows(self) -> Iterator[Row]:
        """Yield the rest of the pass."""
        while self.next is not None and self.next < self.w.n:
            index, self.next = self.next, self.next + self.step
            yield self.w.row(index, self.rng)

    def state_dict(self) -> Any:
        """Return the state."""
        return {"next": self.next}

    def load_state_dict(self, state: Any) -> None:
        """Load a state."""
        self.next = state["next"]


class Cursor(Counter):
    """The published "cursor": a loaded position is used up by the next started iteration."""

    def __init__(self, w: Any, shard: list[int], rng: Rng | None = None) -> None:
        super().__init__(w, shard, rng)
        self.first, self.next, self.loaded = self.next, None, None

    def rows(self) -> Iterator[Row]:
        self.next = self.first if self.loaded is None else self.loaded
        self.loaded = None
        return (yield from super().rows())

    def load_state_dict(self, state: Any) -> None:
        self.next = self.loaded = state["next"]


class Checked:
    """Raises in place of some rows, and goes on."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        found = next(self.rows)
        if found[0] % 4 == 2:
            raise OSError(f"id {found[0]}")
        return found


class Faulty(Counter):
    """The published "faulty": raises in place of some ids, and goes on."""

    def rows(self) -> Iterator[Row]:
        return Checked(super().rows())


class FaultyCursor(Cursor):
    """The published "faulty-cursor": a cursor that raises in place of some ids, and goes on."""

    def rows(self) -> Iterator[Row]:
        return Checked(super().rows())


class Tally(Counting):
    """The published "tally": each row ends with the number of samples made before it."""

    def __getitem__(self, i: int) -> Row:
        self.count += 1
        return [*self.w.row(i, self.rng), self.count - 1]

    def state_dict(self) -> Any:
        return {"count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.count = state["count"]


class Reversed:
    """The published sampler "reversed": the ids from the last to the first."""

    def __init__(self, w: Any) -> None:
        self.n = w.n

    def __len__(self) -> int:
        return int(self.n)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n - 1, -1, -1))


class Drawn(Reversed):
    """A user's plain sampler that draws from the global streams whenever an index is asked for."""

    def __iter__(self) -> Iterator[int]:
        import numpy
        import torch

        left = list(range(self.n))
        while left:
            drawn = random.random() + float(numpy.random.random()) + float(torch.rand(()))
            yield left.pop(self.place(drawn, left))

    @staticmethod
    def place(drawn: float, left: list[int]) -> int:
        """Return which of the ids that are left a number chooses."""
        return int(drawn * 2**20) % len(left)


class Permuted(Reversed):
    """The published sampler "permuted": each pass draws an order from torch's default generator."""

    def __iter__(self) -> Iterator[int]:
        import torch

        yield from torch.randperm(self.n).tolist()


class Marked(Reversed):
    """The published sampler "marked": a loaded place is used up by the next started iteration."""

    next: int | None = None
    loaded: int | None = None

    def __iter__(self) -> Iterator[int]:
        index = self.n - 1 if self.loaded is None else self.loaded
        self.loaded = None
        while index >= 0:
            self.next = index - 1
            yield index
            index = self.next

    def state_dict(self) -> dict[str, int | None]:
        """Return the place."""
        return {"next": self.next}

    def load_state_dict(self, state: dict[str, int | None]) -> None:
        """Continue from a place, once."""
        self.next = self.loaded = state["next"]


class Turned(Reversed):
    """The published sampler "turned": its order follows its attribute ``epoch``."""

    epoch = 0

    def __iter__(self) -> Iterator[int]:
        first, epoch = 3 * self.epoch, self.epoch
        for index in range(self.n):
            yield (first + index) % self.n
        self.epoch = epoch + 1


class Spun(Reversed):
    """The published sampler "spun": each pass begins at an id that its own generator draws."""

    def __init__(self, w: Any) -> None:
        import numpy

        super().__init__(w)
        self.generator = numpy.random.default_rng(self.n)

    def __iter__(self) -> Iterator[int]:
        first = int(self.n * self.generator.random())
        for index in range(self.n):
            yield (first + index) % self.n


class Countdown:
    """A Stateful iterator: the ids from one down to the first."""

    def __init__(self, last: int) -> None:
        self.next = last

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.next < 0:
            raise StopIteration
        self.next -= 1
        return self.next + 1

    def state_dict(self) -> dict[str, int]:
        """Return the place."""
        return {"next": self.next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from a place."""
        self.next = state["next"]


class Counted(Reversed):
    """The published sampler "counted": its iterators are Stateful."""

    def __iter__(self) -> Iterator[int]:
        return Countdown(self.n - 1)


class Shared(Reversed):
    """The published sampler "shared": the odd ids, the share of rank 1 of 2."""

    rank, num_replicas = 1, 2

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, self.n, self.num_replicas))


class Paired:
    """The published "paired": Stateful, and so is its sampler; each batch is of two ids."""

    def __init__(self, w: Any) -> None:
        self.sampler, self.count = Marked(w), 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for index in self.sampler:
            self.count += 1
            yield index, (self.count - 1) % self.sampler.n

    def state_dict(self) -> dict[str, int]:
        """Return the batches made."""
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue to count."""
        self.count = state["count"]


class Growing:
    """A Stateful iterator of batches of 1, 2, 3, 1, 2, 3, … ids."""

    def __init__(self, n: int) -> None:
        self.n, self.batches, self.next = n, 0, 0

    def __iter__(self) -> Iterator[list[int]]:
        return self

    def __next__(self) -> list[int]:
        if self.next >= self.n:
            raise StopIteration
        first, self.next = self.next, self.next + 1 + self.batches % 3
        self.batches += 1
        return list(range(first, min(self.next, self.n)))

    def state_dict(self) -> dict[str, int]:
        """Return the place."""
        return {"batches": self.batches, "next": self.next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from a place."""
        self.batches, self.next = state["batches"], state["next"]


class Grown:
    """The published "grown": its iterators are Stateful."""

    def __init__(self, w: Any) -> None:
        self.n = w.n

    def __iter__(self) -> Iterator[list[int]]:
        return Growing(self.n)


class Nested:
    """The published "nested": pairs of ids of its sampler, moved by its epoch."""

    def __init__(self, w: Any) -> None:
        self.sampler, self.epoch = Spun(w), 0

    def __iter__(self) -> Iterator[list[int]]:
        epoch, n = self.epoch, self.sampler.n
        ids = [(index + 2 * epoch) % n for index in self.sampler]
        for first in range(0, n, 2):
            yield ids[first : first + 2]
        self.epoch = epoch + 1


def pcg64(seed: int) -> Callable[[], float]:
    """Return the ``random`` of NumPy's generator under a seed.

    Example:
        >>> pcg64(4247642575230746406)()
        0.16099289274901296
    """
    import numpy

    generator = numpy.random.Generator(numpy.random.PCG64(seed))
    return lambda: float(generator.random())


STREAMS: dict[str, Any] = {
    "begun": Begun,
    "set up": SetUp,
    "divided": Divided,
    "counter": Counter,
    "cursor": Cursor,
    "tally": Tally,
    "faulty": Faulty,
    "faulty cursor": FaultyCursor,
}
"""The sources, by the name of the stream."""

ORDERS: dict[str, Any] = {
    "drawn": Drawn,
    "reversed": Reversed,
    "permuted": Permuted,
    "marked": Marked,
    "turned": Turned,
    "spun": Spun,
    "counted": Counted,
    "shared": Shared,
    "paired": Paired,
    "grown": Grown,
    "nested": Nested,
}
"""The samplers, by name."""

BATCHES = ("paired", "grown", "nested")
"""The samplers of batches among them."""
