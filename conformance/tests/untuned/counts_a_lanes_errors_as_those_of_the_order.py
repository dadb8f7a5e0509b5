"""Takes the numbers of a lane's errors for places in the order, not in the lane.

With several lanes of a map-style dataset with a state, a replay over an error raises it again, or
demands one of another batch.
"""

import contextlib
from typing import Any

from edited import edited

FAMILY = "errors"
BREAKS = ("FAULT-11",)
EDITS = [
    (
        "epoch/schedule.py",
        """\
        (entry.cut + number) * count + lane
""",
        """\
        entry.cut * count + lane + number
""",
    ),
]


class Rows:
    def __init__(self) -> None:
        self.fetched = 0

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> int:
        self.fetched += 1
        if index == 7:
            raise ValueError("unreadable")
        return index

    def state_dict(self) -> Any:
        return {"fetched": self.fetched}

    def load_state_dict(self, state: Any) -> None:
        self.fetched = state["fetched"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    options: Any = {
        "batch_size": 2,
        "lanes": 2,
        "seed": 1,
        "collate_fn": list,
        "snapshot_every_n_steps": 8,
    }
    loader = make(Rows(), **options)
    batches = iter(loader)
    for _ in range(6):
        with contextlib.suppress(ValueError):
            next(batches)
    again = make(Rows(), **options)
    again.load_state_dict(loader.state_dict())
    try:
        rest: Any = list(again)
    except Exception as error:
        rest = type(error).__name__
    return rest, [[12 + 2 * i, 13 + 2 * i] for i in range(6)]


Adapter = edited(EDITS)
