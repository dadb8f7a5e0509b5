"""Does not read the mark of a lane's last batch when a batch arrives from a worker process.

The lane counts as not ended until it is asked once more. A state taken in between holds a stream
at its end, and a resume begins that stream again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "transport"
BREAKS = ("EPOCH-3", "DOC-10", "RESUME-1", "ELASTIC-1")
EDITS = [
    (
        "transport/ends.py",
        "        batch = PackedBatch(parcel, shipment.samples, shipment.last)\n",
        "        batch = PackedBatch(parcel, shipment.samples)\n",
    ),
]


class Stream(IterableDataset[int]):
    """A Stateful stream that begins again after its end."""

    at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 7:
            self.at += 1
            yield self.at
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Stream(), 2, seed=1, num_workers=1, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    for _ in range(4):
        next(batches)
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


Adapter = edited(EDITS)
