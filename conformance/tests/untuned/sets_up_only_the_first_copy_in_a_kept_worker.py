"""Remembers for a lane's number, and not for its object, that ``worker_init_fn`` was called.

Kept workers get a new copy of a Stateful stream for each epoch. Those of later epochs are not set
up, so that a run with persistent workers has other epochs than one without.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "persistent workers"
BREAKS = ("WORKERS-2", "BASIS-3", "RESUME-7", "EPOCH-2")
EDITS = [
    (
        "lane/host.py",
        "        for kept in (self._unmade, self._initialised, self._resting):\n",
        "        for kept in (self._unmade, self._resting):\n",
    ),
]


class Sharded(IterableDataset[int]):
    """A Stateful stream of which ``worker_init_fn`` chooses the part."""

    shard, shards, at = 0, 1, 0

    def __iter__(self) -> Iterator[int]:
        while self.at * self.shards + self.shard < 8:
            self.at += 1
            yield (self.at - 1) * self.shards + self.shard
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def choose(lane: int) -> None:
    """Choose a lane's part."""
    info: Any = get_worker_info()
    info.dataset.shard, info.dataset.shards = lane, info.num_workers


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(*, persistent: bool) -> Any:
        loader = make(
            Sharded(),
            2,
            seed=1,
            num_workers=2,
            worker_init_fn=choose,
            collate_fn=list,
            persistent_workers=persistent,
        )
        return [list(loader) for _ in range(2)]

    return epochs(persistent=True), epochs(persistent=False)


Adapter = edited(EDITS)
