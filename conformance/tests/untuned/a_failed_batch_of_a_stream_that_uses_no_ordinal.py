"""Counts the batches of a lane that it has made, and leaves out those in which the dataset raised.

The state counts these, because the caller has got their error. So the lane seeds each batch after
an error as another one than a resume does, and the values that its samples draw differ.
"""

from collections.abc import Iterator
from typing import Any

import torch
from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "errors and seeds"
BREAKS = ("SEED-3", "VAMB-1", "FAULT-11")
EDITS = [
    (
        "lane/lane.py",
        """        if not isinstance(outcome, Ended):
            self._ordinal += 1
        snapshot, content""",
        """        if isinstance(outcome, Batch):
            self._ordinal += 1
        snapshot, content""",
    )
]


class Reader:
    """An iterator that goes on after an error."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> tuple[int, float]:
        if self.read == 10:
            raise StopIteration
        self.read += 1
        if self.read == 3:
            raise ValueError("row 3")
        return self.read, torch.rand(()).item()

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


class Rows(IterableDataset[Any]):
    """A stream with a random number beside each row."""

    def __iter__(self) -> Iterator[Any]:
        return Reader()


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        return midepoch.StatefulDataLoader(Rows(), batch_size=2, collate_fn=list, seed=5)

    one = loader()
    batches, taken = iter(one), []
    while len(taken) < 3:
        try:
            taken.append(next(batches))
        except ValueError as error:
            taken.append(str(error))
    other = loader()
    other.load_state_dict(one.state_dict())
    return list(other), list(batches)


Adapter = edited(EDITS)
