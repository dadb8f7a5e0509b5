"""Leaves a sampler where it is if an epoch is broken off and no batch was drawn too many.

With workers, the end after the last batch may have been drawn ahead as well. torch's RandomSampler
draws from its generator once more there. So the epochs after one that was left at its last batch
depend on the number of workers.
"""

from typing import Any

import torch
from edited import edited
from torch.utils.data import RandomSampler

FAMILY = "epochs broken off"
BREAKS = ("WORKERS-1",)
EDITS = [
    (
        "sampling/custom.py",
        "if self._index == batches and self._end is None and not disturbed:",
        "if self._index == batches and not disturbed:",
    )
]


def shows(play: Any) -> Any:
    import midepoch

    def run(workers: int) -> list[Any]:
        sampler = RandomSampler(range(8), generator=torch.Generator().manual_seed(6))
        loader: Any = midepoch.StatefulDataLoader(
            range(8), 4, sampler=sampler, collate_fn=list, num_workers=workers, seed=0
        )
        for count, _ in enumerate(loader, start=1):
            if count == 2:
                break
        return list(loader)

    return run(2), run(0)


Adapter = edited(EDITS)
