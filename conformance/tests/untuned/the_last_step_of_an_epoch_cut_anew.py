"""Ends a dropped or rolled-over epoch at the largest multiple of the batch size.

If ranks go on in steps of another size, these begin at the loaded position, and that is none of its
multiples. The last step is then a short one, and samples that would have filled it are left out.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and dropped rests"
BREAKS = ("WORLD-7",)
EDITS = [
    (
        "sampling/batches.py",
        "self._end = self._total - (self._total - self._place) % self._size",
        "self._end = self._total - self._total % self._size",
    )
]


def shows(play: Any) -> Any:
    import midepoch

    def loader(rank: int, world: int, whole: int) -> Any:
        return midepoch.StatefulDataLoader(
            range(10),
            ranks=(rank, world),
            global_batch_size=whole,
            drop_last=True,
            on_world_change="recut",
            collate_fn=list,
            seed=0,
        )

    first = loader(0, 2, 4)
    next(iter(first))
    steps: list[Any] = []
    for rank in range(3):
        one = loader(rank, 3, 3)
        one.load_state_dict(first.state_dict())
        steps.append(list(one))
    together = [[i for share in step for i in share] for step in zip(*steps, strict=True)]
    return together, [[4, 5, 6], [7, 8, 9]]


Adapter = edited(EDITS)
