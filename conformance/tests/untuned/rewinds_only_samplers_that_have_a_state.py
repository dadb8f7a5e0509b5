"""Rewinds the sampler of an epoch that is left only if it has a state, not if it has a generator.

The indices that workers had drawn ahead stay drawn from the generator. So the epoch after one that
was broken off has another order with workers than without.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "samplers"
BREAKS = ("WORKERS-1", "RESUME-7")
EDITS = [
    (
        "sampling/custom.py",
        "        if not (self._pass.stateful or chain.has_generators()):\n            return\n",
        "        if not self._pass.stateful:\n            return\n",
    ),
]


class Drawn:
    """A sampler that draws each index from its generator when it is asked for it."""

    def __init__(self) -> None:
        self.generator = random.Random(3)

    def __len__(self) -> int:
        return 24

    def __iter__(self) -> Iterator[int]:
        for _ in range(24):
            yield self.generator.randrange(1000)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(workers: int) -> Any:
        loader = make(
            list(range(1000)),
            3,
            sampler=Drawn(),
            seed=1,
            lanes=1,
            num_workers=workers,
            collate_fn=list,
        )
        batches = iter(loader)
        first = [next(batches), next(batches)]
        return first, list(loader)

    return epochs(1), epochs(0)


Adapter = edited(EDITS)
