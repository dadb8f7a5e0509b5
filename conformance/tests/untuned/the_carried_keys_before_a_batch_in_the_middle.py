"""Begins an epoch under a sampler with the keys that were carried into it.

An epoch that is resumed from a snapshot of the sampler begins in its middle. The carried keys were
delivered in its first batch, and come again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "rollover"
BREAKS = ("EPOCH-7", "EPOCH-4")
EDITS = [
    (
        "sampling/custom.py",
        "self._heads = list(self._carried) if self._index == 0 else []",
        "self._heads = list(self._carried)",
    )
]


class Placed:
    """A sampler with a state: its place."""

    def __init__(self) -> None:
        self.place = 0

    def __len__(self) -> int:
        return 14

    def __iter__(self) -> Iterator[int]:
        while self.place < 14:
            self.place += 1
            yield self.place - 1
        self.place = 0

    def state_dict(self) -> dict[str, int]:
        return {"place": self.place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.place = state["place"]


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        return midepoch.StatefulDataLoader(
            range(14),
            batch_size=4,
            sampler=Placed(),
            collate_fn=list,
            num_workers=1,
            last_batch="rollover",
            seed=0,
        )

    one, other = loader(), loader()
    list(one)
    batches = iter(one)
    next(batches), next(batches)
    other.load_state_dict(one.state_dict())
    return list(other), list(batches)


Adapter = edited(EDITS)
