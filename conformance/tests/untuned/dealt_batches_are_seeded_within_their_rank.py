"""Seeds the batches of a lane that is dealt to a rank by their number within the rank.

Two ranks draw the same numbers for their first batches, and others than one rank alone.
"""

import random
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-9", "WORLD-10", "SEED-2", "VAMB-2")
EDITS = [
    (
        "lane/lane.py",
        "with self._batch(self.spec.number(task.number)):",
        "with self._batch(task.number):",
    ),
]


class Drawing:
    """Stateful rows that draw."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, random.getrandbits(64)

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def batches(world: int) -> Any:
        ranks = [
            make(Drawing(), 2, ranks=(rank, world), lanes=2, seed=1, collate_fn=list)
            for rank in range(world)
        ]
        return sorted(batch for one in ranks for batch in one)

    return batches(2), batches(1)


Adapter = edited(EDITS)
