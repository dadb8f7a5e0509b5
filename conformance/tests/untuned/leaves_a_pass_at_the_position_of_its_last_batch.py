"""Saves the position of a pass that was left as if a batch had been drawn from it.

When an epoch is broken off right after a snapshot, the next one's state holds a position in the
middle of the stream. A stream that goes on from a loaded position then begins that epoch there: its
first samples are lost, in the resumed run alone.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "passes that live on"
BREAKS = ("RESUME-4", "RESUME-7", "EPOCH-4")
EDITS = [
    (
        "lane/progress.py",
        "        if self.delivered > base.cut and base.ordinal >= 0:\n",
        "        if base.ordinal >= 0:\n",
    ),
]


class Stream(IterableDataset[int]):
    """Numbers; a loaded position is used by the next pass."""

    def __init__(self) -> None:
        self.at = 0
        self.start = 0

    def __iter__(self) -> Iterator[int]:
        self.at, self.start = self.start, 0
        while self.at < 12:
            self.at += 1
            yield self.at - 1

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.start = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    def opened() -> Any:
        make: Any = midepoch.StatefulDataLoader
        return make(Stream(), 2, lifetime="run", lanes=2, seed=1, collate_fn=list)

    loader = opened()
    batches = iter(loader)
    for _ in range(4):
        next(batches)
    batches = iter(loader)
    state = loader.state_dict()
    rest = list(batches)
    resumed = opened()
    resumed.load_state_dict(state)
    return list(resumed), rest


Adapter = edited(EDITS)
