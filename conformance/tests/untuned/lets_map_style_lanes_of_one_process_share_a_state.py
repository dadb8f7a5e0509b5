"""Lets the lanes of one process use one object of any map-style dataset, also of one with a state.

With as many processes as lanes each lane still has its own. Where a process, the caller's or a
worker's, hosts several lanes, each sees what the others did, and a resume loads one's state over
the others'.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "lanes"
BREAKS = ("WORKERS-1", "ELASTIC-1", "RESUME-1")
EDITS = [
    (
        "lane/lane.py",
        "        return not changed and not is_stateful(dataset)\n",
        "        return not changed\n",
    ),
]


class Tally(Dataset[int]):
    """A Stateful dataset whose samples count the fetches of its object."""

    fetched = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        self.fetched += 1
        return 100 * index + self.fetched

    def state_dict(self) -> dict[str, int]:
        return {"fetched": self.fetched}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.fetched = state["fetched"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def batches(workers: int) -> Any:
        return list(make(Tally(), 2, seed=1, lanes=2, num_workers=workers, collate_fn=list))

    return batches(0), batches(2)


Adapter = edited(EDITS)
