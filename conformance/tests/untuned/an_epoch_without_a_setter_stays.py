"""Restores a sampler's epoch only through ``set_epoch``.

A sampler that counts its passes in ``epoch`` by itself begins again at 0 in the process that
resumes between two epochs.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-2", "EPOCH-3", "EPOCH-4", "RESUME-1")
EDITS = [
    (
        "sampling/chain.py",
        "                else:\n                    link.epoch = epoch\n",
        "",
    ),
]


class Counting:
    """A sampler whose passes count themselves."""

    def __init__(self) -> None:
        self.epoch = 0

    def __len__(self) -> int:
        return 20

    def __iter__(self) -> Iterator[int]:
        order = list(range(20))
        random.Random(self.epoch).shuffle(order)
        self.epoch += 1
        return iter(order)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(20), 4, sampler=Counting(), seed=1, collate_fn=list)

    saving, resumed = loader(), loader()
    list(saving)
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(saving)


Adapter = edited(EDITS)
