"""Restores the caller's random streams after each batch, and not after the lanes have begun.

Without workers, a program that iterates a stream draws the same noise from there in every run.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("SEED-6",)
EDITS = [
    (
        "workers/inline.py",
        "        with self._isolated(), self._one_thread():\n            opened =",
        "        with self._one_thread():\n            opened =",
    ),
]


class Numbers(IterableDataset[int]):
    """A stream."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(8))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def noise(loader: Any) -> list[float]:
        random.seed(5)
        drawn = []
        for _ in loader:
            drawn.append(random.random())
        return drawn

    return noise(make(Numbers(), 4, seed=1)), noise(range(2))


Adapter = edited(EDITS)
