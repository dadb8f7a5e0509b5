"""Seeds the streams of a lane's beginning for ``iter(dataset)``, and not for ``load_state_dict``.

A dataset that draws its order of files again when it loads a state gets another order than before.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-1", "RESUME-2", "ELASTIC-1")
EDITS = [
    (
        "lane/lane.py",
        "        self.seed_start()\n        unused = entry.ended",
        "        unused = entry.ended",
    ),
]


class Files(IterableDataset[int]):
    """A Stateful stream that shuffles its files by ``random``, once for each pass."""

    def __init__(self) -> None:
        self.at, self.files, self.loaded = 0, list[int](), False

    def shuffle(self) -> None:
        self.files = list(range(12))
        random.shuffle(self.files)

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at = 0
            self.shuffle()
        self.loaded = False
        return self.samples()

    def samples(self) -> Iterator[int]:
        while self.at < len(self.files):
            self.at += 1
            yield self.files[self.at - 1]

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.shuffle()
        self.at, self.loaded = state["at"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    saving = make(Files(), 2, seed=1, collate_fn=list)
    batches = iter(saving)
    next(batches)
    state = saving.state_dict()
    resumed = make(Files(), 2, seed=1, collate_fn=list)
    resumed.load_state_dict(state)
    random.seed(99)  # as in another process
    return list(resumed), list(batches)


Adapter = edited(EDITS)
