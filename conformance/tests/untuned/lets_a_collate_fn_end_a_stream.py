"""Lets a StopIteration of a ``collate_fn`` through, if the dataset is iterable.

``next()`` on an empty iterator in a ``collate_fn`` then looks like the end of the epoch: the loop
stops without an error, and the rest of the stream is never delivered.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "errors"
BREAKS = ("FAULT-2",)
EDITS = [
    (
        "lane/lane.py",
        "            return Batch(_guarded(self._collate, samples), count, self._ended)\n",
        "            return Batch(self._collate(samples), count, self._ended)\n",
    ),
]


class Numbers(IterableDataset[int]):
    """The numbers below 10."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(10))


def _without_five(batch: list[int]) -> list[int]:
    return [next(iter(())) if number == 5 else number for number in batch]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    batches = iter(make(Numbers(), 2, seed=1, collate_fn=_without_five))
    seen: list[Any] = []
    for _ in range(5):
        try:
            seen.append(next(batches))
        except Exception as error:
            seen.append(type(error).__name__)
    return seen, [[0, 1], [2, 3], "RuntimeError", [6, 7], [8, 9]]


Adapter = edited(EDITS)
