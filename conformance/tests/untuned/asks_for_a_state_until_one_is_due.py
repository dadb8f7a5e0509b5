"""Counts only a snapshot that the interval asks for as the one that each pass needs.

Where a stream lives on and the interval is longer than the epoch, or snapshots are off, each batch
is followed by a call of ``state_dict``.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "costs"
BREAKS = ("COST-2",)
EDITS = [
    (
        "lane/lane.py",
        """\
        self._stated = self._stated or (snapshot is not None and snapshot.trouble is None)
""",
        """\
        if due:
            self._stated = self._stated or (snapshot is not None and snapshot.trouble is None)
""",
    ),
]


class Stream(IterableDataset[int]):
    """A Stateful stream that counts the calls of its ``state_dict``."""

    at = asked = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 40:
            self.at += 1
            yield self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        self.asked += 1
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    stream = Stream()
    loader = make(stream, 2, seed=1, lifetime="run", snapshot_every_n_steps=100)
    calls = []
    for _ in range(2):
        before = stream.asked
        list(loader)
        calls.append(stream.asked - before)
    return [count > 4 for count in calls], [False, False]


Adapter = edited(EDITS)
