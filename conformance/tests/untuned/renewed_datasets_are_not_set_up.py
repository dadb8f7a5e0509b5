"""Calls ``worker_init_fn`` once for each lane of a worker, and not for each copy of the dataset.

Persistent workers get a new copy of a Stateful stream in each epoch. From the second one on, no
``worker_init_fn`` divides it: each worker delivers all of it.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "workers"
BREAKS = ("WORKERS-2", "BASIS-3", "EPOCH-2", "EPOCH-1")
EDITS = [
    (
        "lane/host.py",
        "for kept in (self._unmade, self._initialised, self._resting):",
        "for kept in (self._unmade, self._resting):",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream that its ``worker_init_fn`` divides."""

    def __init__(self) -> None:
        self.part, self.at = range(12), 0

    def __iter__(self) -> Iterator[int]:
        while self.at < len(self.part):
            self.at += 1
            yield self.part[self.at - 1]
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def divide(lane: int) -> None:
    """Give a worker its part."""
    info: Any = get_worker_info()
    info.dataset.part = range(lane, 12, info.num_workers)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(persistent: bool) -> Any:
        loader = make(
            Numbers(),
            2,
            num_workers=2,
            seed=1,
            collate_fn=list,
            worker_init_fn=divide,
            persistent_workers=persistent,
        )
        return [list(loader) for _ in range(2)]

    return epochs(True), epochs(False)


Adapter = edited(EDITS)
