"""Closes waiting workers when ``num_workers`` is set, but keeps the lanes of the caller's process.

A run that gets workers after its first epoch goes on with readers that have read nothing.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "lanes"
BREAKS = ("RESUME-7", "WORKERS-1")
EDITS = [
    (
        "attributes.py",
        "            self._pool.resized()\n",
        "            self._pool.between.drop()\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose samples tell how often it was begun."""

    def __init__(self, length: int = 4) -> None:
        self.length, self.at, self.passes, self.loaded = length, 0, 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at, self.passes = 0, self.passes + 1
        self.loaded = False
        while self.at < self.length:
            self.at += 1
            yield 100 * self.passes + self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.passes, self.loaded = state["at"], state["passes"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(
        Numbers(), 4, lanes=2, lifetime="run", worker_type="thread", collate_fn=list, seed=1
    )
    list(loader)
    loader.num_workers = 2
    return list(loader), [[201, 202, 203, 204]] * 2


Adapter = edited(EDITS)
