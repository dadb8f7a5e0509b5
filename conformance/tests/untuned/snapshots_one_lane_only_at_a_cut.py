"""Asks only the lane of the last batch before a cut for its snapshot, and not the lanes beside it.

With several lanes of a Stateful map-style dataset and an interval above 1, the lanes' snapshots are
never of one cut. So none is used, and a resume fetches the epoch again from its beginning.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "snapshots"
BREAKS = ("COST-3",)
EDITS = [
    (
        "epoch/schedule.py",
        """\
        cut = (step.index // self._interval + 1) * self._interval
        return step.index + self._lanes >= cut
""",
        "        return (step.index + 1) % self._interval == 0\n",
    ),
]


class Counted(Dataset[int]):
    """A dataset with a state, which counts all fetches of the process."""

    fetched = 0

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> int:
        Counted.fetched += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"seen": 0}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Counted(), 1, seed=1, lanes=2, snapshot_every_n_steps=4, collate_fn=list)

    def cost(position: int) -> int:
        saving = loader()
        batches = iter(saving)
        for _ in range(position):
            next(batches)
        state = saving.state_dict()
        resumed = loader()
        resumed.load_state_dict(state)
        before = Counted.fetched
        next(iter(resumed))
        return Counted.fetched - before

    return cost(5), cost(21), cost(53)


RIGHT = (2, 2, 2)


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
