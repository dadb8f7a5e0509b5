"""Keeps a dataset that lives on once in each pass, at its beginning, where snapshots are off.

What the dataset does at its end, counting its passes for instance, is missing after a resume
between two epochs.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "interval"
BREAKS = ("INTERVAL-1", "EPOCH-2", "EPOCH-4")
EDITS = [
    (
        "lane/lane.py",
        "vital = self.spec.keeps and (self._ended or not self._stated)",
        "vital = self.spec.keeps and not self._stated",
    ),
    (
        "lane/progress.py",
        "self.delivered - base.ordinal + self._end_asked",
        "self.delivered - base.ordinal",
    ),
]


class Passes(IterableDataset[int]):
    """A stream that counts its passes when they end."""

    def __init__(self) -> None:
        self.passes, self.at = 0, 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 9:
            self.at += 1
            yield 100 * self.passes + self.at
        self.passes, self.at = self.passes + 1, 0

    def state_dict(self) -> dict[str, int]:
        return {"passes": self.passes, "at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.passes, self.at = state["passes"], state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Passes(), 3, seed=1, collate_fn=list, snapshot_every_n_steps=0, lifetime="run")

    saving, resumed = loader(), loader()
    list(saving)
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(saving)


Adapter = edited(EDITS)
