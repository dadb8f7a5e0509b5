"""Does not count a batch in which the dataset raised when a lane replays its batches.

After a resume past an error that was caught, the lane's next batches are one ordinal too early, and
draw the numbers of the batches before them.
"""

import random
import warnings
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "seeds"
BREAKS = ("VAMB-1", "VOWN-1", "SEED-3", "FAULT-11")
EDITS = [
    (
        "lane/lane.py",
        """\
                    self._note(samples)
            self._ordinal += 1
""",
        """\
                    self._note(samples)
                self._ordinal += 1
""",
    ),
]


class Rows(Iterator[Any]):
    """An iterator that goes on after its unreadable second row."""

    def __init__(self) -> None:
        self.at = 0

    def __next__(self) -> Any:
        self.at += 1
        if self.at == 2:
            raise ValueError("unreadable")
        if self.at > 6:
            raise StopIteration
        return self.at, random.random()


class Stream(IterableDataset[Any]):
    """A stream without a state, whose rows are augmented at random."""

    def __iter__(self) -> Iterator[Any]:
        return Rows()


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Stream(), 1, seed=1, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    next(batches)
    try:
        next(batches)
    except ValueError:
        next(batches)
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


RIGHT = (
    [[(4, 0.16780450783032652)], [(5, 0.10135032012208423)], [(6, 0.29077012542049885)]],
    [[(4, 0.16780450783032652)], [(5, 0.10135032012208423)], [(6, 0.29077012542049885)]],
)


def shows(play: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return delivered(), RIGHT


Adapter = edited(EDITS)
