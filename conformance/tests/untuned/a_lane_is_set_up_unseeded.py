"""Calls ``worker_init_fn`` in whatever random streams there are, without seeding them.

What it draws for its lane (an offset, a generator's seed) is another thing after a restart, in a
process whose streams are in another state, and the same in all lanes that are forked together.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-1", "WORKERS-1", "VAMB-2", "SEED-1", "ELASTIC-1", "DOC-11")
EDITS = [
    (
        "lane/lane.py",
        "            self._seed(self._seeds)\n            self.spec.init(self.number)\n",
        "            self.spec.init(self.number)\n",
    ),
]


class Shifted(IterableDataset[float]):
    """A Stateful stream that is shifted by what was drawn for its lane."""

    shift, at = 0.0, 0

    def __iter__(self) -> Iterator[float]:
        while self.at < 6:
            self.at += 1
            yield self.at + self.shift
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def draw(lane: int) -> None:
    """Draw the shift of a lane."""
    info = get_worker_info()
    assert info is not None
    info.dataset.shift = random.random()  # type: ignore[attr-defined]  # a Shifted


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Shifted(), 2, seed=1, lanes=2, worker_init_fn=draw, collate_fn=list)

    random.seed(5)
    saving = loader()
    batches = iter(saving)
    first = [next(batches)]
    state = saving.state_dict()
    random.seed(6)
    resumed = loader()
    resumed.load_state_dict(state)
    return first + list(resumed), first + list(batches)


Adapter = edited(EDITS)
