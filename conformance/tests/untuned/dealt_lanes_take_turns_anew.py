"""Counts the turns of lanes that are dealt to ranks from the resume on.

A rank that resumes between two rounds of its lanes delivers their batches in another order.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "lanes"
BREAKS = ("WORLD-1", "WORLD-10", "RESUME-1")
EDITS = [
    (
        "epoch/schedule.py",
        "[entry.delivered for entry in _entries(document)] if plan.dealt else None\n",
        "[0] * self._lanes if plan.dealt else None\n",
    ),
]


class Numbers(IterableDataset[int]):
    """Four numbers in each lane."""

    def __iter__(self) -> Iterator[int]:
        info: Any = get_worker_info()
        return iter(range(10 * info.id, 10 * info.id + 4))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Numbers(), 1, ranks=(0, 2), lanes=4, collate_fn=list, seed=1)

    import warnings

    saving, resumed = loader(), loader()
    batches = iter(saving)
    for _ in range(3):
        next(batches)
    resumed.load_state_dict(saving.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(resumed), list(batches)


Adapter = edited(EDITS)
