"""Seeds the private streams of a user's sampler without the epoch.

A sampler that draws from the global streams gives the same order in every epoch.
"""

import random
from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-1", "SEED-4", "DOC-11")
EDITS = [
    (
        "sampling/custom.py",
        'self._seeds = derive_words(root, "sampler", epoch)',
        'self._seeds = derive_words(root, "sampler", 0)',
    ),
]


class Drawing:
    """A sampler that shuffles with the global stream."""

    def __iter__(self) -> Any:
        order = list(range(20))
        random.shuffle(order)
        return iter(order)


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(list(range(20)), 20, sampler=Drawing(), seed=0)
    first, second = (next(iter(loader)).tolist() for _ in range(2))
    return first == second, False


Adapter = edited(EDITS)
