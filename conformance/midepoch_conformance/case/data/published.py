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
    "ORDERS", "STREAMS", "Begun", "Counter", "Cursor", "Drawn", "Marked", "Permuted", "Reversed",
    "SetUp", "Spun", "Tally", "Turned", "pcg64",
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
    "counter": Counter,
    "cursor": Cursor,
    "tally": Tally,
}
"""The sources, by the name of the stream."""

ORDERS: dict[str, Any] = {
    "drawn": Drawn,
    "reversed": Reversed,
    "permuted": Permuted,
    "marked": Marked,
    "turned": Turned,
    "spun": Spun,
}
"""The samplers, by name."""
