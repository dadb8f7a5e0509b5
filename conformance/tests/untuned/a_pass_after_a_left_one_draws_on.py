"""Begins a sampler's pass, after the rest of one that was left, in the streams as that leaves them.

A Stateful sampler that draws each index by ``random`` has another order if the epoch before was
broken off and the run is restarted before the first batch.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-7", "RESUME-4", "EPOCH-4", "DOC-11")
EDITS = [
    (
        "sampling/custom.py",
        "            chain.put_generators(resume.generators)\n"
        "            streams.seed(self._seeds)\n"
        "            self._pass.begin()\n",
        "            chain.put_generators(resume.generators)\n            self._pass.begin()\n",
    ),
]


class Drawn:
    """A Stateful sampler that draws each index by ``random`` from those that are left."""

    def __init__(self) -> None:
        self.left, self.loaded = list[int](), False

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.left = list(range(12))
        self.loaded = False
        while self.left:
            yield self.left.pop(random.randrange(len(self.left)))

    def state_dict(self) -> dict[str, Any]:
        return {"left": list(self.left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.left, self.loaded = list(state["left"]), True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(12), 2, sampler=Drawn(), seed=1, collate_fn=list)

    saving = loader()
    left = iter(saving)
    next(left), next(left)
    batches = iter(saving)  # the epoch is broken off
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


Adapter = edited(EDITS)
