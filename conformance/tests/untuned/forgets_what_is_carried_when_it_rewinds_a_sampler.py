"""Draws a left epoch's batches without the carried indices when it rewinds a sampler to its place.

Under rollover the first of these batches then takes more of the sampler than it did, so the
sampler's generator stands too far. With workers the epoch after one that was broken off has
another order than without.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "rollover"
BREAKS = ("WORKERS-1", "RESUME-7")
EDITS = [
    (
        "sampling/custom.py",
        "            carried=self._carried_into(base),\n",
        "",
    ),
]


class Drawn:
    """A sampler that draws each index from its generator when it is asked for it."""

    def __init__(self) -> None:
        self.generator = random.Random(3)

    def __len__(self) -> int:
        return 22

    def __iter__(self) -> Iterator[int]:
        for _ in range(22):
            yield self.generator.randrange(1000)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(workers: int) -> Any:
        loader = make(
            list(range(1000)),
            4,
            sampler=Drawn(),
            seed=1,
            lanes=1,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
            last_batch="rollover",
            collate_fn=list,
        )
        whole = list(loader)
        batches = iter(loader)
        begun = [next(batches)]
        return whole, begun, list(loader)

    return epochs(1), epochs(0)


Adapter = edited(EDITS)
