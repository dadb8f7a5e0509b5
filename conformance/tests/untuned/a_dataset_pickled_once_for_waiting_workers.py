"""Pickles the dataset once for persistent workers, which get a new copy of it in each epoch.

The program may change the dataset between two epochs, with a method set_epoch for instance. From
the third epoch on the workers get the bytes of an earlier one.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "persistent workers"
BREAKS = ("WORKERS-1", "WORKERS-2")
EDITS = [
    (
        "workers/processes.py",
        """        try:
            self._renewed = pickle.dumps(dataset, protocol=5)
        except Exception:
            return False
""",
        """        if self._renewed is None:
            try:
                self._renewed = pickle.dumps(dataset, protocol=5)
            except Exception:
                return False
""",
    ),
    ("workers/processes.py", "        self._renewed = None\n        reports:", "        reports:"),
]


class Set(IterableDataset[int]):
    """A stream whose samples follow from the epoch that was set."""

    def __init__(self) -> None:
        self.epoch = 0
        self.read = 0

    def __iter__(self) -> Iterator[int]:
        while self.read < 6:
            self.read += 1
            yield 100 * self.epoch + self.read
        self.read = 0

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


def shows(play: Any) -> Any:
    import midepoch

    def run(*, persistent: bool) -> list[Any]:
        dataset = Set()
        loader: Any = midepoch.StatefulDataLoader(
            dataset,
            batch_size=3,
            collate_fn=list,
            num_workers=1,
            persistent_workers=persistent,
            lifetime="epoch",
            seed=1,
        )
        epochs = []
        for epoch in range(4):
            dataset.epoch = epoch
            epochs.append(list(loader))
        return epochs

    return run(persistent=True), run(persistent=False)


Adapter = edited(EDITS)
