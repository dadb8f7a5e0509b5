"""Keeps the digest of the replayed batches for a resumed pass that is left before a snapshot.

A run with a ``replay_check`` that resumes, breaks off and saves cannot load what it has saved.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "resumes of resumes"
BREAKS = ("RESUME-7", "EPOCH-5", "DOC-18")
EDITS = [
    (
        "lane/progress.py",
        "        return replace(base, ordinal=-batches, ended=False, replay=0, errors=errors, "
        "content=None)\n",
        "        return replace(base, ordinal=-batches, ended=False, replay=0, errors=errors)\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose samples tell how often it was begun."""

    def __init__(self, length: int = 4) -> None:
        self.length, self.at, self.passes, self.loaded = length, 0, 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at, self.passes = 0, self.passes + 1
        self.loaded = False
        while self.at < self.length:
            self.at += 1
            yield 100 * self.passes + self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.passes, self.loaded = state["at"], state["passes"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Numbers(12),
            1,
            lifetime="run",
            snapshot_every_n_steps=4,
            replay_check=list,
            collate_fn=list,
            seed=1,
        )

    saving, resumed, again = loader(), loader(), loader()
    batches = iter(saving)
    for _ in range(6):
        next(batches)
    resumed.load_state_dict(saving.state_dict())
    next(iter(resumed))
    next_epoch = iter(resumed)
    try:
        again.load_state_dict(resumed.state_dict())
    except ValueError as error:
        return type(error).__name__, [201]
    return next(iter(again)), next(next_epoch)


Adapter = edited(EDITS)
