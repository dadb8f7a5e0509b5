"""Counts the indices of a rank's sampler from the place where it was resumed.

``StatefulDistributedSampler`` skips to its position at the first restart, and its next state tells
only what came after that: the second restart repeats samples.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-2", "WORLD-1", "RESUME-3", "STATE-4", "RESUME-7", "DOC-11")
EDITS = [
    (
        "sampling/distributed.py",
        "        self.yielded = start\n        for index",
        "        for index",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        sampler = midepoch.StatefulDistributedSampler(range(24), num_replicas=2, rank=1)
        return midepoch.StatefulDataLoader(range(24), 2, sampler=sampler, seed=1, collate_fn=list)

    def in_lives() -> Any:
        state, seen = None, list[Any]()
        for _ in range(6):
            life = loader()
            if state is not None:
                life.load_state_dict(state)
            seen.append(next(iter(life)))
            state = life.state_dict()
        return seen

    return outcome(in_lives), list(loader())


Adapter = edited(EDITS)
