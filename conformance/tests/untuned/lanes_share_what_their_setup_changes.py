"""Lets the lanes of one process use one object of a map-style dataset without a state.

If a ``worker_init_fn`` sets the lane's own file, bias or connection, the last lane's is everyone's.
"""

from typing import Any

from edited import edited
from torch.utils.data import get_worker_info

FAMILY = "lanes"
BREAKS = ("WORKERS-1", "ELASTIC-1")
EDITS = [
    (
        "lane/lane.py",
        "changed = self.iterable or self.init is not None or self.pipes is not None",
        "changed = self.iterable or self.pipes is not None",
    ),
]


class Rows:
    """Rows with what the ``worker_init_fn`` gave their lane."""

    lane = -1

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, self.lane


def mark(lane: int) -> None:
    """Tell a lane's dataset which lane it is of."""
    info: Any = get_worker_info()
    info.dataset.lane = lane


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epoch(workers: int) -> Any:
        loader = make(
            Rows(),
            2,
            num_workers=workers,
            lanes=2,
            seed=1,
            collate_fn=list,
            worker_init_fn=mark,
            lifetime="epoch",
        )
        return list(loader)

    return epoch(0), epoch(2)


Adapter = edited(EDITS)
