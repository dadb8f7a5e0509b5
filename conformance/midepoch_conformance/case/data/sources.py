"""The sources and generators of datasets that loaders break on.

Each class is small and needs no other, except :class:`Source` if it is derived from that: a
failure's script holds only the class that it needs. The classes need of a workload ``w`` no more
than ``w.row``, ``w.n``, ``w.seed`` and ``w.batch_size``; ``Positions`` and ``Counting`` also its
two methods for the dataset's state. Standard library alone; numpy and torch only where a
generator is theirs.

A source makes the rows of one lane, of the sample ids in ``shard``. A pass is begun by ``iter``, or
by the first ``next`` after it; one pass uses a loaded state, and the next one starts from the
beginning. A row is made only when it is requested, so that a state may also be loaded between
``iter`` and ``next``.
"""

# A method's documentation stands at its first definition. A workload is Any here, so that a class
# can be pasted: hence the one `type: ignore` where a row is handed on.
# ruff: noqa: D102

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

__all__ = [
    "GENERATORS", "SOURCES", "Buffer", "Counting", "Filter", "Flatten", "Looping",
    "NumpyGenerator", "OneShot", "Packing", "Positions", "Private", "PythonGenerator", "Rewinding",
    "Row", "RowIterator", "Source", "TorchGenerator",
]  # fmt: skip

Row = list[float]
Rng = Callable[[], float]


class Source:
    """Makes rows; ``at`` is its state, a mapping."""

    start: ClassVar[dict[str, Any]] = {"position": 0}
    loaded = False

    def __init__(self, w: Any, shard: list[int], rng: Rng | None = None) -> None:
        self.w, self.shard, self.rng, self.at = w, shard, rng, copy.deepcopy(self.start)

    def __iter__(self) -> Iterator[Row]:
        self.at.update({} if self.loaded else copy.deepcopy(self.start))
        self.loaded = False
        return self.rows()

    def rows(self) -> Iterator[Row]:
        """Yield the rest of the pass."""
        while self.at["position"] < len(self.shard):
            self.at["position"] += 1
            yield self.w.row(self.shard[self.at["position"] - 1], self.rng)

    def state_dict(self) -> Any:
        """Return the state: a copy."""
        return copy.deepcopy(self.at)

    def load_state_dict(self, state: Any) -> None:
        """Load a state; it is copied."""
        self.at, self.loaded = copy.deepcopy(state), True


class Positions(Source):
    """Rows in the order of their ids; the workload makes the state, and notes that."""

    def state_dict(self) -> Any:
        return self.w.dataset_state(self.at["position"])

    def load_state_dict(self, state: Any) -> None:
        self.at, self.loaded = {"position": self.w.dataset_position(state)}, True


class Sticky(Source):
    """Begins every later pass at the state that was loaded, as streams of Hugging Face do."""

    kept: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Row]:
        self.at.update(copy.deepcopy(self.kept or self.start))
        return self.rows()

    def load_state_dict(self, state: Any) -> None:
        self.at, self.kept = copy.deepcopy(state), copy.deepcopy(state)


class Looping(Source):
    """Is at its beginning again when it has ended."""

    def rows(self) -> Iterator[Row]:
        yield from super().rows()
        self.at["position"] = 0


class Set(Source):
    """Shuffles its rows by the epoch that the user sets on the dataset, as datasets' streams do."""

    def rows(self) -> Iterator[Row]:
        order = list(self.shard)
        random.Random(self.w.epoch).shuffle(order)
        while self.at["position"] < len(order):
            self.at["position"] += 1
            yield self.w.row(order[self.at["position"] - 1], self.rng)


class Reshuffled(Source):
    """Draws its order from the global streams, when a pass begins and again when it is loaded."""

    def __iter__(self) -> Iterator[Row]:
        if not self.loaded:
            self.shuffle()
        return super().__iter__()

    def shuffle(self) -> None:
        """Draw the order of the ids."""
        self.order = list(self.shard)
        random.Random(str(self.w.drawn(self.rng))).shuffle(self.order)

    def rows(self) -> Iterator[Row]:
        while self.at["position"] < len(self.order):
            self.at["position"] += 1
            yield self.w.row(self.order[self.at["position"] - 1], self.rng)

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.shuffle()


class Buffer(Source):
    """A shuffle buffer of three rows with a generator of its own, which passes do not reset."""

    start: ClassVar[dict[str, Any]] = {"position": 0, "buffer": []}

    def rows(self) -> Iterator[Row]:
        first, (at, generator) = random.Random(sum(self.shard)), (self.at, random.Random())
        version, words, gauss = at.setdefault("generator", first.getstate())
        generator.setstate((version, tuple(words), gauss))
        while at["position"] < len(self.shard) or at["buffer"]:
            while at["position"] < len(self.shard) and len(at["buffer"]) < 3:
                at["buffer"].append(self.w.row(self.shard[at["position"]], self.rng))
                at["position"] += 1
            row = at["buffer"].pop(generator.randrange(len(at["buffer"])))
            at["generator"] = generator.getstate()
            yield row


class Packing(Source):
    """Packs texts into fives: the remainder goes into the next five, and shows in each row."""

    start: ClassVar[dict[str, Any]] = {"position": 0, "left": []}

    def rows(self) -> Iterator[Row]:
        at = self.at
        while at["position"] < len(self.shard):
            i = self.shard[at["position"]]
            at["position"] += 1
            left = at["left"] + [i] * (1 + i % 3)
            at["left"] = left[len(left) // 5 * 5 :]
            yield [*self.w.row(i, self.rng), len(at["left"]), sum(at["left"])]


class Filter(Source):
    """Reads three for each that it yields."""

    start: ClassVar[dict[str, Any]] = {"read": 0}

    def rows(self) -> Iterator[Row]:
        while self.at["read"] < 3 * len(self.shard):
            self.at["read"] += 1
            if self.at["read"] % 3 == 2:
                yield self.w.row(self.shard[self.at["read"] // 3], self.rng)


class Flatten(Source):
    """Reads files of no, two, one and three samples, in turn; a pass begins with its first row."""

    start: ClassVar[dict[str, Any]] = {"position": 0, "files": 0, "queue": []}

    def __iter__(self) -> Iterator[Row]:
        yield from super().__iter__()

    def rows(self) -> Iterator[Row]:
        at = self.at
        while at["queue"] or at["position"] < len(self.shard):
            if at["queue"]:
                yield self.w.row(at["queue"].pop(0), self.rng)
                continue
            begin, size = at["position"], (0, 2, 1, 3)[at["files"] % 4]
            at["queue"] = self.shard[begin : begin + size]
            at["position"], at["files"] = begin + len(at["queue"]), at["files"] + 1


class OneShot:
    """Is its own iterator, and has ended for ever when it has ended."""

    def __init__(self, w: Any, shard: list[int], rng: Rng | None = None) -> None:
        self.w, self.shard, self.rng, self.position = w, shard, rng, 0

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        if self.position >= len(self.shard):
            raise StopIteration
        self.position += 1
        # The workload is any object with its methods, so that a script can hold its own.
        return self.w.row(self.shard[self.position - 1], self.rng)  # type: ignore[no-any-return]

    def state_dict(self) -> Any:
        """Return the state."""
        return {"position": self.position}

    def load_state_dict(self, state: Any) -> None:
        """Load a state."""
        self.position = state["position"]


class Rewinding(OneShot):
    """Is its own iterator, and starts over with each ``iter``."""

    def __iter__(self) -> Iterator[Row]:
        self.position = 0
        return self


class Counting:
    """Random access that counts what it fetched: the count ends each row, and is its state."""

    def __init__(self, w: Any, shard: list[int], rng: Rng | None = None) -> None:
        self.w, self.rng, self.count = w, rng, 0

    def __getitem__(self, i: int) -> Row:
        self.count += 1
        return [*self.w.row(i, self.rng), self.count]

    def state_dict(self) -> Any:
        """Return the state."""
        return self.w.dataset_state(self.count)

    def load_state_dict(self, state: Any) -> None:
        """Load a state."""
        self.count = self.w.dataset_position(state)


class Private:
    """A source whose rows end with draws from generators of the dataset's own."""

    def __init__(self, source: Any, generators: list[Any]) -> None:
        self.source, self.generators = source, generators

    def __iter__(self) -> Iterator[Row]:
        return (self.drawn(row) for row in self.source)

    def __getitem__(self, i: int) -> Row:
        return self.drawn(self.source[i])

    def drawn(self, row: Row) -> Row:
        """Return the row with a draw of each generator."""
        return [*row, *(generator.draw() for generator in self.generators)]

    def state_dict(self) -> Any:
        """Return the state."""
        return {
            "rows": self.source.state_dict(),
            "generators": [generator.state() for generator in self.generators],
        }

    def load_state_dict(self, state: Any) -> None:
        """Load a state."""
        self.source.load_state_dict(state["rows"])
        for number, generator in enumerate(self.generators):
            generator.load(state["generators"][number])


class RowIterator:
    """A source's iterator with the source's state; a dataset may count its rows."""

    def __init__(self, source: Any, dataset: Any = None) -> None:
        self.source, self.dataset, self.rows = source, dataset, iter(source)

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row: Row = next(self.rows)
        if self.dataset is None:
            return row
        self.dataset.count += 1
        return [*row, self.dataset.count]

    def state_dict(self) -> Any:
        """Return the state."""
        return self.source.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Load a state."""
        self.source.load_state_dict(state)


class PythonGenerator:
    """A ``random.Random``."""

    def __init__(self, seed: int) -> None:
        self.generator = random.Random(seed)

    def draw(self) -> float:
        """Return a uniform number, a normal one and 32 bits, added up."""
        generator = self.generator
        return generator.random() + generator.gauss(0.0, 1.0) + generator.getrandbits(32) / 2**32

    def state(self) -> Any:
        """Return the state."""
        return self.generator.getstate()

    def load(self, state: Any) -> None:
        """Load a state."""
        version, words, gauss = state
        self.generator.setstate((version, tuple(words), gauss))


class NumpyGenerator:
    """A ``numpy.random.Generator``."""

    def __init__(self, seed: int) -> None:
        import numpy

        self.generator = numpy.random.default_rng(seed)

    def draw(self) -> float:
        """Return a uniform number, a normal one and 32 bits, added up."""
        generator = self.generator
        bits = int(generator.integers(2**32, dtype="uint32"))
        return float(generator.random() + generator.normal()) + bits / 2**32

    def state(self) -> Any:
        """Return the state."""
        return self.generator.bit_generator.state

    def load(self, state: Any) -> None:
        """Load a state."""
        self.generator.bit_generator.state = state


class TorchGenerator:
    """A ``torch.Generator``."""

    def __init__(self, seed: int) -> None:
        import torch

        self.generator = torch.Generator().manual_seed(seed)

    def draw(self) -> float:
        """Return a uniform number and a normal one, added up."""
        import torch

        both = torch.rand((), generator=self.generator) + torch.randn((), generator=self.generator)
        return float(both)

    def state(self) -> Any:
        """Return the state."""
        return self.generator.get_state()

    def load(self, state: Any) -> None:
        """Load a state."""
        self.generator.set_state(state)


SOURCES: dict[str, Any] = {
    "plain": Positions,
    "uneven": Positions,
    "rising": Positions,
    "hollow": Positions,
    "buffer": Buffer,
    "packing": Packing,
    "filter": Filter,
    "flatten": Flatten,
    "oneshot": OneShot,
    "rewinding": Rewinding,
    "sticky": Sticky,
    "looping": Looping,
    "set": Set,
    "reshuffled": Reshuffled,
}
"""The source of each stream; uneven, rising and hollow ones have other shards."""

GENERATORS: dict[str, Any] = {
    "private python": PythonGenerator,
    "private numpy": NumpyGenerator,
    "private torch": TorchGenerator,
}
"""A dataset's own generators, by what a workload's ``draws`` call them."""
