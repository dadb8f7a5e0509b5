"""Asks a map-style lane for a snapshot one batch too late: not at its last batch before the cut.

The lane whose last batch is exactly so many before the cut as there are lanes has none, so the
lanes are never cut together, and each resume replays the epoch from its beginning.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "costs"
BREAKS = ("COST-3",)
EDITS = [
    (
        "epoch/schedule.py",
        "        return step.index + self._lanes >= cut\n",
        "        return step.index + self._lanes > cut\n",
    ),
]


class Tally(Dataset[int]):
    """A Stateful dataset that notes what is fetched."""

    def __init__(self) -> None:
        self.fetched = 0

    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> int:
        self.fetched += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def again(position: int) -> int:
        """Return the samples that a resume fetches for its first batch, beyond that batch."""
        saving = make(Tally(), 2, seed=1, snapshot_every_n_steps=2)
        batches = iter(saving)
        for _ in range(position):
            next(batches)
        dataset = Tally()
        resumed = make(dataset, 2, seed=1, snapshot_every_n_steps=2)
        resumed.load_state_dict(saving.state_dict())
        next(iter(resumed))
        return dataset.fetched - 2

    return [again(4), again(25)], [0, 2]


Adapter = edited(EDITS)
