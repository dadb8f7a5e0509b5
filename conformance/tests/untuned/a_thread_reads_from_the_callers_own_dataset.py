"""Gives the first lane of each worker thread the given dataset itself, as each process may have it.

A process has a copy anyway, and a thread has not. A Stateful stream that begins each epoch as a
fresh copy goes on where the epoch before left the caller's object.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "lanes"
BREAKS = ("WORKERS-1", "WORKERS-2", "BASIS-2", "BASIS-3", "EPOCH-2", "RESUME-7")
EDITS = [
    (
        "workers/threads.py",
        "LaneDatasets(spec, dataset, own=False, remedy=_PROCESSES)",
        "LaneDatasets(spec, dataset, own=True, remedy=_PROCESSES)",
    ),
]


class Counted(IterableDataset[int]):
    """A Stateful stream that numbers all rows that it has ever given."""

    def __init__(self) -> None:
        self.given, self.at, self.loaded = 0, 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at = 0
        self.loaded = False
        while self.at < 4:
            self.at, self.given = self.at + 1, self.given + 1
            yield self.given

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given, "at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given, self.at, self.loaded = state["given"], state["at"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(**execution: Any) -> Any:
        loader = make(Counted(), 2, lanes=1, collate_fn=list, seed=1, **execution)
        return list(loader), list(loader)

    return epochs(num_workers=1, worker_type="thread"), epochs(num_workers=0)


Adapter = edited(EDITS)
