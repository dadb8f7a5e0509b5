"""Finds an epoch's end from its beginning, and not from the place where the steps continue.

Ranks that drop incomplete steps and go on with another global batch size, after steps of the old
one, end with an incomplete step.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-7", "WORLD-3", "WORLD-8")
EDITS = [
    (
        "sampling/batches.py",
        "self._end = self._total - (self._total - self._place) % self._size",
        "self._end = self._total - self._total % self._size",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def rank(number: int, world: int, size: int) -> Any:
        return make(
            range(11),
            global_batch_size=size,
            ranks=(number, world),
            on_world_change="recut",
            drop_last=True,
            seed=1,
            collate_fn=list,
        )

    saving = rank(0, 2, 4)
    next(iter(saving))
    ranks = [rank(number, 3, 3) for number in range(3)]
    for one in ranks:
        one.load_state_dict(saving.state_dict())
    steps = [
        [row for part in parts for row in part] for parts in zip(*map(list, ranks), strict=True)
    ]
    return steps, [[4, 5, 6], [7, 8, 9]]


Adapter = edited(EDITS)
