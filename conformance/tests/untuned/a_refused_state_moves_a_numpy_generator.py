"""Tries a generator's saved state on a shallow copy, which shares NumPy's bit generator.

A program that catches the refusal and starts over gets the order of the refused checkpoint.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from edited import edited

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "DOC-13")
EDITS = [
    ("sampling/generators.py", "else copy.deepcopy(value)\n", "else copy.copy(value)\n"),
]


class Drawn:
    """A sampler with two generators: one for the order, one for how many are left out."""

    def __init__(self, seed: int, second: Any) -> None:
        self.order = np.random.default_rng(seed)
        self.skips = np.random.Generator(second)

    def __iter__(self) -> Iterator[int]:
        first = int(self.skips.integers(1))
        return iter(self.order.permutation(12).tolist()[first:])

    def __len__(self) -> int:
        return 12


def shows(play: Any) -> Any:
    from contextlib import suppress

    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(seed: int, second: Any) -> Any:
        return make(range(12), 4, sampler=Drawn(seed, second), seed=1, collate_fn=list)

    saving = loader(1, np.random.Philox(5))
    next(iter(saving))
    refusing = loader(2, np.random.PCG64(5))
    with suppress(ValueError):
        refusing.load_state_dict(saving.state_dict())
    return list(refusing), list(loader(2, np.random.PCG64(5)))


Adapter = edited(EDITS)
