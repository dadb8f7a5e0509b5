"""Takes workers that wait for the next epoch as they are, without a new copy of the dataset.

The epoch that a program sets on its stream, to have it shuffled anew, never reaches persistent
workers: each epoch has the order of the first one.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "workers"
BREAKS = ("WORKERS-2", "EPOCH-4", "EPOCH-1", "ELASTIC-3")
EDITS = [
    (
        "epoch/pool.py",
        "            if not execution.renews or idle.renew(unwrapped(loader.dataset)):\n"
        "                return idle\n"
        "            idle.close()\n",
        "            return idle\n",
    ),
]


class Shuffled(IterableDataset[int]):
    """A Stateful stream whose order follows from the epoch that the program sets."""

    def __init__(self) -> None:
        self.epoch, self.at = 0, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        order = list(range(12))
        random.Random(self.epoch).shuffle(order)
        while self.at < 12:
            self.at += 1
            yield order[self.at - 1]
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(persistent: bool) -> Any:
        data = Shuffled()
        loader = make(
            data, 3, seed=1, num_workers=1, collate_fn=list, persistent_workers=persistent
        )
        seen = []
        for epoch in range(2):
            data.set_epoch(epoch)
            seen.append(list(loader))
        return seen

    return epochs(True), epochs(False)


Adapter = edited(EDITS)
