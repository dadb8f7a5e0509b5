"""Begins a sampler anew, where its loaded state was that of an end, in the streams as they are now.

Some samplers keep a loaded end for their first pass, and shuffle before they see that nothing is
left. The epoch after a restart then has another order than without the restart.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-2", "EPOCH-1", "EPOCH-4", "RESUME-7", "DOC-11")
EDITS = [
    (
        "sampling/custom.py",
        "        self._chain.put_generators(self._opening.generators)\n"
        "        streams.seed(self._seeds)\n"
        "        return iter(self._chain.driver)\n",
        "        return iter(self._chain.driver)\n",
    ),
]


class Shuffling:
    """A Stateful sampler that shuffles all indices, and then skips to its position."""

    def __init__(self) -> None:
        self.at, self.loaded = 0, False

    def __len__(self) -> int:
        return 8

    def __iter__(self) -> Iterator[int]:
        self.at, self.loaded = self.at if self.loaded else 0, False
        order = random.sample(range(8), 8)
        while self.at < 8:
            self.at += 1
            yield order[self.at - 1]

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.loaded = state["at"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(8), 2, sampler=Shuffling(), seed=1, collate_fn=list)

    saving = loader()
    list(saving)
    resumed = loader()
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(saving)


Adapter = edited(EDITS)
