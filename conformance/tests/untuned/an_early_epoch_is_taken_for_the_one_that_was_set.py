"""Takes the epoch that was begun early although ``set_epoch`` has named another one.

With ``prefetch_next_epoch`` and an order that is the same in every epoch, the first batches of the
set epoch are made under the seeds of the one that would have come next: other augmentations.
"""

from typing import Any

from edited import edited

FAMILY = "epochs"
BREAKS = ("SEED-7", "SEED-2", "WORKERS-2", "RESUME-7")
EDITS = [
    (
        "epoch/between.py",
        "        drawn: list[Step | None] = []\n"
        "        if early.progress.epoch == document.position.epoch:"
        "  # or else it has other seeds\n"
        "            drawn = early.schedule.agree(order)\n",
        "        drawn = early.schedule.agree(order)\n",
    ),
]


class Drawn:
    """A map-style dataset of random numbers."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        from midepoch import batch_info

        return int(batch_info().numpy.integers(10**9))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def run(early: bool) -> Any:
        loader = make(
            Drawn(),
            1,
            seed=1,
            collate_fn=list,
            num_workers=1,
            worker_type="thread",
            persistent_workers=True,
            prefetch_next_epoch=early,
        )
        list(loader)
        loader.set_epoch(5)
        batches = iter(loader)
        got = [next(batches) for _ in range(4)]
        batches._shutdown_workers()
        return got

    return run(True), run(False)


Adapter = edited(EDITS)
