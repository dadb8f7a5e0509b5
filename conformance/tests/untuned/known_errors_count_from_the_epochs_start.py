"""Places a loaded lane's errors from the epoch's start, not from the lane's snapshot.

A run over a Stateful map-style dataset with an interval of several batches that caught an error
cannot be resumed until the next snapshot: the replay raises the error again.
"""

import contextlib
from typing import Any

from edited import edited

FAMILY = "interval"
BREAKS = ("FAULT-11", "INTERVAL-1")
EDITS = [
    (
        "epoch/schedule.py",
        "        (entry.cut + number) * count + lane\n",
        "        number * count + lane\n",
    ),
]


class Squares:
    """A map-style dataset that counts what it gave; one sample cannot be read."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.given += 1
        if index == 6:
            raise OSError("unreadable")
        return index, self.given

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Squares(), 1, seed=1, collate_fn=list, snapshot_every_n_steps=4)

    saving = loader()
    batches = iter(saving)
    for _ in range(7):
        with contextlib.suppress(OSError):
            next(batches)
    state = saving.state_dict()
    expected = list(batches)
    resumed = loader()
    resumed.load_state_dict(state)
    try:
        return list(resumed), expected
    except OSError as error:
        return error, expected


Adapter = edited(EDITS)
