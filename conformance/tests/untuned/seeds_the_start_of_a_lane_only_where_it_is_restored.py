"""Seeds the streams before a lane is restored, and not once more before ``iter(dataset)``.

A lane that lives on is not restored at a new epoch. An order that the dataset draws in ``__iter__``
then comes from whatever the streams were left at, and a resume draws another one.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-7", "EPOCH-2", "EPOCH-4", "WORKERS-1")
EDITS = [
    (
        "lane/lane.py",
        """\
    def _iterate(self) -> Iterator[Any]:
        self.seed_start()
""",
        """\
    def _iterate(self) -> Iterator[Any]:
""",
    ),
]


class Shuffled(IterableDataset[int]):
    """A stream that draws its order when it is iterated."""

    def __iter__(self) -> Iterator[int]:
        order = list(range(12))
        random.shuffle(order)
        return iter(order)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Shuffled(), 3, seed=1, collate_fn=list)

    random.seed(5)
    saving = loader()
    list(saving)
    state = saving.state_dict()
    random.seed(6)
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(saving)


Adapter = edited(EDITS)
