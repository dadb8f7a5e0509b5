"""Takes the latest snapshot for that of a lane's end, although state_dict failed at the end.

The state between two epochs then has a snapshot from within the old epoch as the new one's start:
the resumed run begins its next epoch in the middle.
"""

import warnings
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "states"
BREAKS = ("EPOCH-2", "EPOCH-1", "RESUME-7")
EDITS = [
    (
        "lane/progress.py",
        "        self.ended = ended\n"
        "        if snapshot is not None and snapshot.trouble is None:\n",
        "        self.ended = self._ended_in_base = ended\n"
        "        if snapshot is not None and snapshot.trouble is None:\n",
    ),
    (
        "lane/progress.py",
        "            self._content = None\n            self._ended_in_base = ended\n",
        "            self._content = None\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose state cannot be had at the first end."""

    def __init__(self) -> None:
        self.at, self.loaded, self.fails = 0, False, True

    def __iter__(self) -> Iterator[int]:
        self.at = self.at if self.loaded else 0
        self.loaded = False
        while self.at < 8:
            self.at += 1
            yield self.at

    def state_dict(self) -> dict[str, int]:
        if self.at == 8 and self.fails:
            raise OSError("not now")
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.loaded = state["at"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Numbers(), 2, seed=1, collate_fn=list, lifetime="run")

    saving = loader()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(saving)
        state = saving.state_dict()
        expected = list(saving)
        resumed = loader()
        resumed.load_state_dict(state)
        return list(resumed), expected


Adapter = edited(EDITS)
