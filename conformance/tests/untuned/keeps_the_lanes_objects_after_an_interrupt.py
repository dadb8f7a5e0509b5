"""Closes the workers after an interrupt, but keeps the lanes' objects of the caller's process.

Several lanes without workers go on with objects that have already made a part of the interrupted
batch, and all batches that are replayed: nothing stated brings them back to the epoch's start.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "faults"
BREAKS = ("FAULT-12", "RESUME-7")
EDITS = [
    (
        "epoch/iterator.py",
        """\
        self._broken = True
        self._discard()
        self._interrupted()
""",
        """\
        self._broken = True
        self._discard()
""",
    ),
]

met: list[int] = []
"""The samples that were interrupted."""


class Tally(Dataset[int]):
    """A Stateful dataset whose samples count the fetches of their lane; one is interrupted once."""

    fetched = 0

    def __init__(self, interrupted: int | None) -> None:
        self.interrupted = interrupted

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        self.fetched += 1
        if index == self.interrupted and not met:
            met.append(index)
            raise KeyboardInterrupt
        return 100 * index + self.fetched

    def state_dict(self) -> dict[str, int]:
        return {"fetched": self.fetched}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.fetched = state["fetched"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def batches(interrupted: int | None) -> Any:
        dataset = Tally(interrupted)
        loader = make(dataset, 2, seed=1, lanes=2, collate_fn=list, snapshot_every_n_steps=4)
        left, made = iter(loader), []
        while True:
            try:
                made.append(next(left))
            except StopIteration:
                return made
            except KeyboardInterrupt:
                continue

    met.clear()
    return batches(7), batches(None)


Adapter = edited(EDITS)
