"""Seeds the beginning of a lane's epoch with lane and epoch in the wrong order.

A dataset that shuffles its files in ``__iter__`` does so alike in two epochs of different lanes.
"""

import random
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("SEED-1", "VAMB-2", "DOC-11")
EDITS = [
    (
        "lane/lane.py",
        'derive_words(self.spec.seed, "lane", self.epoch, self.number)',
        'derive_words(self.spec.seed, "lane", self.number, self.epoch)',
    ),
]


class Files(IterableDataset[Any]):
    """A stream that draws once when it is begun."""

    def __iter__(self) -> Any:
        return iter([random.getrandbits(53)])


def shows(play: Any) -> Any:
    import midepoch
    from midepoch.format.seeds import derive_words

    loader: Any = midepoch.StatefulDataLoader(Files(), None, seed=3, lanes=2)
    right = [
        random.Random(derive_words(3, "lane", epoch, lane).python).getrandbits(53)
        for epoch in (0, 1)
        for lane in (0, 1)
    ]
    return [drawn for _ in range(2) for drawn in loader], right


Adapter = edited(EDITS)
