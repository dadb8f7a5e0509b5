"""Keeps the workers of an older iterator for the next epoch, once that iterator is dropped.

A peek at the first batch whose iterator is freed late gives a later epoch a reader that stands
elsewhere.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "epochs"
BREAKS = ("EPOCH-5", "RESUME-7")
EDITS = [
    (
        "epoch/iterator.py",
        "        return self._loads == self._between.loads and self._newest()\n",
        "        return self._loads == self._between.loads\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose samples tell how often it was begun."""

    def __init__(self, length: int = 4) -> None:
        self.length, self.at, self.passes, self.loaded = length, 0, 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at, self.passes = 0, self.passes + 1
        self.loaded = False
        while self.at < self.length:
            self.at += 1
            yield 100 * self.passes + self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.passes, self.loaded = state["at"], state["passes"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(
        Numbers(),
        2,
        num_workers=1,
        persistent_workers=True,
        worker_type="thread",
        prefetch=0,
        lifetime="run",
        collate_fn=list,
        seed=1,
    )
    peek = iter(loader)
    next(peek)
    batches = iter(loader)
    next(batches)
    del peek
    list(batches)
    return list(loader), [[301, 302], [303, 304]]


Adapter = edited(EDITS)
