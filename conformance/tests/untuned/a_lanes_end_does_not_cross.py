"""Leaves the note that a lane ended with its batch behind in the worker.

The order is the same, because the lane is asked again. But a state that is taken before that says
that the lane goes on, and a stream that is at its beginning again after its end is read twice.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "lanes"
BREAKS = ("RESUME-1", "RESUME-7", "EPOCH-3", "BASIS-3")
EDITS = [
    (
        "transport/ends.py",
        "        batch = PackedBatch(parcel, shipment.samples, shipment.last)\n",
        "        batch = PackedBatch(parcel, shipment.samples)\n",
    ),
]


class Uneven(IterableDataset[int]):
    """A Stateful stream that rewinds itself at its end; the first lane has the fewest samples."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        info: Any = get_worker_info()
        while self.at < (3, 9)[info.id]:
            self.at += 1
            yield 100 * info.id + self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Uneven(), 2, seed=1, num_workers=2, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    for _ in range(3):
        next(batches)
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


Adapter = edited(EDITS)
