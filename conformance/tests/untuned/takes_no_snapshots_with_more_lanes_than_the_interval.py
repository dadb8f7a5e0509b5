"""Divides the snapshot interval by the lanes, and takes the 0 of more lanes for "no snapshots".

With ``snapshot_every_n_steps=1``, which is the default, and two or more lanes, a stream with a
state is never asked for it before its end. A resume reads everything again from the epoch's start.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "cost"
BREAKS = ("COST-3",)
EDITS = [
    (
        "epoch/pool.py",
        "interval=max(1, interval // max(1, plan.lanes // world)) if interval else 0,\n",
        "interval=interval // max(1, plan.lanes // world),\n",
    ),
]

_fetched: list[int] = []


class Stream(IterableDataset[int]):
    """Numbers, with their place as the state."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 400:
            self.at += 1
            _fetched.append(self.at)
            yield self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    def opened() -> Any:
        make: Any = midepoch.StatefulDataLoader
        return make(Stream(), 2, lanes=2, seed=1, collate_fn=list)

    costs = []
    for batches in (40, 200):
        loader = opened()
        iterator = iter(loader)
        for _ in range(batches):
            next(iterator)
        state = loader.state_dict()
        resumed = opened()
        resumed.load_state_dict(state)
        _fetched.clear()
        next(iter(resumed))
        costs.append(len(_fetched))
    return costs[1] - costs[0], 0


Adapter = edited(EDITS)
