"""Restores a sampler's NumPy generator without the half of a word that it has in store.

Small integers take half a word each. After an odd number of them, a sampler draws another order
from the restart on: the epoch is refused, or another one than without the restart.
"""

from collections.abc import Iterator
from typing import Any

import numpy
from edited import edited
from play import outcome

FAMILY = "random numbers"
BREAKS = ("EPOCH-2", "EPOCH-4", "EPOCH-1", "RESUME-6", "RESUME-7")
EDITS = [
    (
        "sampling/generators.py",
        "        value.bit_generator.state = _arrays(state)\n",
        "        kept = value.bit_generator.state\n"
        '        kept["state"] = _arrays(state)["state"]\n'
        '        value.bit_generator.state = {**kept, "has_uint32": 0, "uinteger": 0}\n',
    ),
]


class Drawn:
    """A sampler that draws small integers, an odd number of them in each epoch."""

    def __init__(self) -> None:
        self.random = numpy.random.default_rng(5)

    def __len__(self) -> int:
        return 7

    def __iter__(self) -> Iterator[int]:
        for _ in range(7):
            yield int(self.random.integers(1000))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(1000), 2, sampler=Drawn(), seed=1, collate_fn=list)

    saving = loader()
    list(saving)
    resumed = loader()
    resumed.load_state_dict(saving.state_dict())
    return outcome(lambda: list(resumed)), list(saving)


Adapter = edited(EDITS)
