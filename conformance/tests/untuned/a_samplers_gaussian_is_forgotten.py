"""Restores a sampler's ``random.Random`` without the Gaussian that it had in store.

A sampler that draws Gaussians draws others from the epoch after a restart on.
"""

import random
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-1", "EPOCH-4", "EPOCH-1", "EPOCH-2", "RESUME-7")
EDITS = [
    (
        "sampling/generators.py",
        "        value.setstate((version, tuple(internal), gauss))\n",
        "        value.setstate((version, tuple(internal), None))\n",
    ),
]


class Gaussian:
    """A sampler that sorts by Gaussians."""

    def __init__(self) -> None:
        self.generator = random.Random(5)

    def __iter__(self) -> Any:
        keys = [self.generator.gauss(0, 1) for _ in range(7)]
        return iter(sorted(range(7), key=keys.__getitem__))


def shows(play: Any) -> Any:
    import midepoch

    def make() -> Any:
        return midepoch.StatefulDataLoader(list(range(7)), 7, sampler=Gaussian(), seed=0)

    loader = make()
    list(loader)
    state = loader.state_dict()
    again = make()
    again.load_state_dict(state)
    return [batch.tolist() for batch in again], [batch.tolist() for batch in loader]


Adapter = edited(EDITS)
