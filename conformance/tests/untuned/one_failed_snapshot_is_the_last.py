"""Asks a stream for no further state in the epoch once its ``state_dict`` has failed.

A single failure, while a file was being rotated for instance, lets every later resume of that epoch
produce all batches since then again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "costs"
BREAKS = ("COST-3",)
EDITS = [
    (
        "lane/lane.py",
        '            return Snapshot(trouble=f"{type(error).__qualname__}: {error}")\n',
        "            self._failing = True\n"
        '            return Snapshot(trouble=f"{type(error).__qualname__}: {error}")\n',
    ),
    (
        "lane/lane.py",
        "        if not due and not (vital and is_stateful(self.dataset)):\n",
        '        due = due and not hasattr(self, "_failing")\n'
        "        if not due and not (vital and is_stateful(self.dataset)):\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose state cannot be had at one place; it counts its samples."""

    def __init__(self) -> None:
        self.at, self.made, self.fails = 0, 0, True

    def __iter__(self) -> Iterator[int]:
        while self.at < 100:
            self.at, self.made = self.at + 1, self.made + 1
            yield self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        if self.at == 4 and self.fails:
            self.fails = False
            raise OSError("not now")
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import warnings

    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(dataset: Any) -> Any:
        return make(dataset, 1, seed=1, collate_fn=list, lifetime="run")

    saving = loader(Numbers())
    batches = iter(saving)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(80):
            next(batches)
    dataset = Numbers()
    resumed = loader(dataset)
    resumed.load_state_dict(saving.state_dict())
    assert next(iter(resumed)) == [81]
    return dataset.made, 1


Adapter = edited(EDITS)
