"""Saves the digest of the batch that was delivered last, and not that of the highest one.

Out of order a slow batch comes after later ones, and the state then has the digest of an earlier
place of the sampler than it says: the run cannot be resumed.
"""

import time
from typing import Any

from edited import edited
from play import outcome

FAMILY = "delivery out of order"
BREAKS = ("UNORD-1", "DOC-11", "DOC-6", "ELASTIC-3", "RESUME-1", "RESUME-7")
EDITS = [
    (
        "epoch/progress.py",
        "            if self.reach == step.index + 1:\n                self.digest = step.digest\n",
        "            self.digest = step.digest\n",
    ),
]


class Slow:
    """Rows, of which the first one takes long."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        if index == 0:
            time.sleep(0.7)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        sampler = list(range(12))
        return make(
            Slow(), 2, sampler=sampler, seed=1, num_workers=2, in_order=False, collate_fn=list
        )

    saving = loader()
    batches, seen = iter(saving), list[Any]()
    while [0, 1] not in seen:
        seen.append(next(batches))
    state = saving.state_dict()
    del batches

    def resumed() -> Any:
        life = loader()
        life.load_state_dict(state)
        return sorted(seen + list(life))

    return outcome(resumed), [[i, i + 1] for i in range(0, 12, 2)]


Adapter = edited(EDITS)
