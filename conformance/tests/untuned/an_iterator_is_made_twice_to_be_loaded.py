"""Makes another iterator before it loads the iterator's state, as if the first one were used up.

A resume opens the files of a dataset twice.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "costs"
BREAKS = ("COST-4",)
EDITS = [
    (
        "lane/lane.py",
        '        if "iterator" in entry.stated:\n            path =',
        '        if "iterator" in entry.stated:\n'
        '            self._pass.begin(loaded=entry.ordinal <= 0 and "dataset" in entry.stated)\n'
        "            path =",
    ),
]


class Reader:
    """An iterator with a state."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.at == 12:
            raise StopIteration
        self.at += 1
        return self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class Files(IterableDataset[int]):
    """A stream that counts how often it is opened."""

    def __init__(self) -> None:
        self.opened: list[int] = []

    def __iter__(self) -> Iterator[int]:
        self.opened.append(1)
        return Reader()


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    saving = make(Files(), 2, seed=1, collate_fn=list)
    batches = iter(saving)
    next(batches)
    dataset = Files()
    resumed = make(dataset, 2, seed=1, collate_fn=list, lifetime="run")
    resumed.load_state_dict(saving.state_dict())
    assert list(resumed) == list(batches)
    return len(dataset.opened), 1


Adapter = edited(EDITS)
