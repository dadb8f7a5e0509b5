"""Begins the digest of the ``replay_check`` anew at a snapshot that failed.

After one failed ``state_dict`` of the dataset, the checkpoint's own replay does not match it.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "interval"
BREAKS = ("RESUME-1", "INTERVAL-1")
EDITS = [
    (
        "lane/lane.py",
        "        if snapshot is not None and snapshot.trouble is None:\n"
        "            self._content = DIGEST_START\n",
        "        if snapshot is not None:\n            self._content = DIGEST_START\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose state cannot be had at one place."""

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
        if self.at == 4:
            raise OSError("not now")
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.passes, self.loaded = state["at"], state["passes"], True


def shows(play: Any) -> Any:
    import warnings

    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Numbers(8),
            1,
            snapshot_every_n_steps=2,
            replay_check=list,
            collate_fn=list,
            seed=1,
        )

    saving, resumed = loader(), loader()
    batches = iter(saving)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(5):
            next(batches)
        resumed.load_state_dict(saving.state_dict())
        try:
            return list(resumed), [[106], [107], [108]]
        except RuntimeError as error:
            return type(error).__name__, [[106], [107], [108]]


Adapter = edited(EDITS)
