"""Moves the low-water mark past one overtaker only when the slow batch arrives.

A state that is taken after a slow batch says that batches overtook one which had been delivered,
and no loader takes it.
"""

import threading
from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("UNORD-1", "DOC-18")
EDITS = [
    (
        "epoch/progress.py",
        "        while self.low in self._ahead:\n",
        "        if self.low in self._ahead:\n",
    ),
]


class Slow:
    """Its first sample waits."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        if index == 0:
            self.go.wait(60)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(dataset: Any) -> Any:
        return make(
            dataset,
            1,
            num_workers=2,
            worker_type="thread",
            in_order=False,
            prefetch_factor=1,
            collate_fn=list,
            seed=1,
        )

    dataset = Slow()
    saving = loader(dataset)
    batches = iter(saving)
    seen = [next(batches) for _ in range(3)]
    dataset.go.set()
    seen.append(next(batches))
    resumed = loader(range(4))
    try:
        resumed.load_state_dict(saving.state_dict())
    except ValueError as error:
        return type(error).__name__, []
    return sorted(one for batch in [*seen, *resumed] for one in batch), [0, 1, 2, 3]


Adapter = edited(EDITS)
