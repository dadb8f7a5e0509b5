"""Seeds the streams for ``iter(dataset)`` only where a lane is restored.

A dataset that lives on and shuffles its shards in ``__iter__`` draws, in each later epoch of a run,
from streams that nobody seeded: a resume in such an epoch finds another order.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "EPOCH-4", "EPOCH-1", "BASIS-2")
EDITS = [
    (
        "lane/lane.py",
        "        self.seed_start()\n        if self.spec.pipes is not None:\n",
        "        if self.spec.pipes is not None:\n",
    ),
]


class Shards(IterableDataset[int]):
    """A stream whose order is drawn where it is iterated."""

    def __iter__(self) -> Iterator[int]:
        order = list(range(40))
        random.shuffle(order)
        return iter(order)


def shows(play: Any) -> Any:
    import warnings

    import midepoch
    from midepoch.errors import ReplayWarning

    warnings.simplefilter("ignore", ReplayWarning)
    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Shards(), 4, seed=1, collate_fn=list)

    random.seed(1)
    right = loader()
    list(right)
    batches = iter(right)
    next(batches)
    state, rest = right.state_dict(), list(batches)
    random.seed(2)
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), rest


Adapter = edited(EDITS)
