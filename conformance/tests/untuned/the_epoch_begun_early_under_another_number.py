"""Takes the epoch that was begun early if the order of the next one gives the same batches.

A sequential order gives the same in every epoch. If the program has set a later epoch meanwhile,
its first batches were made under the seeds of the one that was begun.
"""

from typing import Any

import torch
from edited import edited

FAMILY = "epochs named and fetched ahead"
BREAKS = ("SEED-2", "WORKERS-2", "EPOCH-8")
EDITS = [
    (
        "epoch/between.py",
        """        drawn: list[Step | None] = []
        if early.progress.epoch == document.position.epoch:  # or else it has other seeds
            drawn = early.schedule.agree(order)
""",
        """        drawn = early.schedule.agree(order)
""",
    )
]


class Noisy:
    """Samples with a random number each."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[int, float]:
        return index, torch.rand(()).item()


def shows(play: Any) -> Any:
    import midepoch

    def run(*, early: bool) -> list[Any]:
        loader: Any = midepoch.StatefulDataLoader(
            Noisy(),
            batch_size=2,
            collate_fn=list,
            num_workers=1,
            persistent_workers=True,
            prefetch_next_epoch=early,
            seed=2,
        )
        list(loader)
        loader.set_epoch(4)
        return list(loader)

    return run(early=True), run(early=False)


Adapter = edited(EDITS)
