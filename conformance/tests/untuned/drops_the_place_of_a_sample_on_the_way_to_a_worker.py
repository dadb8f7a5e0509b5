"""Leaves the place of a rank's samples out of the short form in which a task is sent to a worker.

Ranks that share a plan seed each sample by its place in the epoch. With worker processes samples
are seeded by their batch instead: augmentations differ from those without workers, and with the
number of ranks.
"""

import random
from typing import Any

from edited import edited

FAMILY = "ranks"
BREAKS = ("SEED-8", "WORLD-6", "WORKERS-1")
EDITS = [
    (
        "transport/ends.py",
        "                question.raises,\n                question.place,\n",
        "                question.raises,\n",
    ),
]


class Noisy:
    """Samples with noise."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, random.randrange(1000)


def shows(play: Any) -> Any:
    import midepoch

    def run(rank: int, world: int, workers: int) -> list[Any]:
        make: Any = midepoch.StatefulDataLoader
        loader = make(
            Noisy(),
            ranks=(rank, world),
            global_batch_size=4,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
            seed=1,
            collate_fn=list,
        )
        return list(loader)

    first, second = run(0, 2, 1), run(1, 2, 1)
    return [one + two for one, two in zip(first, second, strict=True)], run(0, 1, 0)


Adapter = edited(EDITS)
