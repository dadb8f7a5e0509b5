"""Delivers the batches of a Stateful map-style dataset as they become ready, where that is allowed.

Its lanes' states belong together at one batch of the order. With ``in_order=False`` and a slow
sample, a saved position counts batches that were not delivered: a resume loses and repeats samples.
"""

import time
from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("UNORD-1",)
EDITS = [
    (
        "epoch/execution.py",
        "    in_order = loader.in_order or inline or (stateful and not iterable)\n",
        "    in_order = loader.in_order or inline\n",
    ),
]


class Counting:
    """A map-style dataset with a state, whose first sample is slow."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        if index == 0:
            time.sleep(0.5)  # so that the batches of the other worker are ready before
        self.given += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Counting(),
            1,
            seed=1,
            collate_fn=list,
            num_workers=2,
            worker_type="thread",
            in_order=False,
        )

    saving = loader()
    batches = iter(saving)
    keys = [key for _ in range(2) for key in next(batches)]
    state = saving.state_dict()
    batches._shutdown_workers()
    resumed = loader()
    resumed.load_state_dict(state)
    rest = iter(resumed)
    try:
        return sorted(keys + [key for batch in rest for key in batch]), list(range(12))
    finally:
        rest._shutdown_workers()


Adapter = edited(EDITS)
