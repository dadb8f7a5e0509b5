"""Lets the order of a resume begin at the number of delivered batches, not at the low-water mark.

In order the two are the same. Out of order, the batches that others had overtaken are never made.
"""

import threading
from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "out of order"
BREAKS = ("UNORD-1", "ELASTIC-3")
EDITS = [
    (
        "epoch/planning.py",
        "    start = position.low\n",
        "    start = position.batches\n",
    ),
]


class Slow(Dataset[int]):
    """A dataset whose first sample comes when the gate is opened."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        if index == 0:
            self.gate.wait(60)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(dataset: Any) -> Any:
        return make(
            dataset, 2, num_workers=2, in_order=False, worker_type="thread", collate_fn=list
        )

    slow, open_ = Slow(), Slow()
    open_.gate.set()
    saving = loader(slow)
    batches = iter(saving)
    taken = [next(batches) for _ in range(3)]
    state = saving.state_dict()
    slow.gate.set()
    resumed = loader(open_)
    resumed.load_state_dict(state)
    came = [row for batch in [*taken, *resumed] for row in batch]
    return sorted(came), list(range(12))


Adapter = edited(EDITS)
