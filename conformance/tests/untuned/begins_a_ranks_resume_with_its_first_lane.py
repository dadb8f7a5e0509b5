"""Counts the turns of lanes that are dealt to a rank from 0 at each resume.

The first of the rank's lanes is asked first, although it may have delivered one batch more than
the others: after a state inside a round, the rest of the epoch comes in another order.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "ranks"
BREAKS = ("WORLD-1",)
EDITS = [
    (
        "epoch/schedule.py",
        "        self._asked = [entry.delivered for entry in _entries(document)] "
        "if plan.dealt else None\n",
        "        self._asked = [0] * self._lanes if plan.dealt else None\n",
    ),
]


class Stream(IterableDataset[int]):
    """A Stateful stream that is divided between the lanes."""

    at = 0

    def __iter__(self) -> Iterator[int]:
        info: Any = get_worker_info()
        while self.at < 8:
            self.at += 1
            yield 10 * self.at + info.id
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Stream(), 2, seed=1, ranks=(1, 2), lanes=4, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    for _ in range(3):
        next(batches)
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


Adapter = edited(EDITS)
