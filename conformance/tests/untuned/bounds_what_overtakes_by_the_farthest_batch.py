"""Bounds how far delivery runs ahead by the farthest delivered batch, not by the slowest one.

The bound moves with the delivery, so while one batch hangs, the list of batches ahead in a state
grows with the position.
"""

import time
from typing import Any

from edited import edited

FAMILY = "order"
BREAKS = ("COST-1",)
EDITS = [
    (
        "epoch/schedule.py",
        "self._next - deliveries.low >= WINDOW * self.capacity",
        "self._next - deliveries.reach >= WINDOW * self.capacity",
    ),
    (
        "epoch/schedule.py",
        '''\
    def lane_ended(self, lane: int) -> bool:
        """Tell whether the epoch has passed a lane's end."""
        ...
''',
        '''\
    @property
    def reach(self) -> int:
        """One more than the last batch that was delivered."""
        ...

    def lane_ended(self, lane: int) -> bool:
        """Tell whether the epoch has passed a lane's end."""
        ...
''',
    ),
]


class Slow:
    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> int:
        if index == 0:
            time.sleep(3)  # the other worker makes the next 40 batches meanwhile
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(Slow(), 1, num_workers=2, in_order=False, seed=1, collate_fn=list)
    batches = iter(loader)
    longest = 0
    for _ in range(40):
        next(batches)
        longest = max(longest, len(loader.state_dict()["position"]["ahead"]))
    del batches
    return longest <= 8, True


Adapter = edited(EDITS)
