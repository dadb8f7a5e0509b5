"""Makes the batches that it replays without seeding the global streams for each.

A stream that shuffles through a buffer with ``random`` has other samples in it after a restart.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "SEED-3", "VAMB-1", "INTERVAL-1", "EPOCH-4")
EDITS = [
    (
        "lane/lane.py",
        "                with self._batch(self._ordinal):\n"
        "                    samples, _, self._ended",
        "                with self._scope(self._ordinal):\n"
        "                    samples, _, self._ended",
    ),
]


class Buffered(IterableDataset[int]):
    """A shuffle buffer of eight samples that draws from ``random``."""

    def __iter__(self) -> Iterator[int]:
        buffer = list(range(8))
        for sample in range(8, 40):
            place = random.randrange(8)
            yield buffer[place]
            buffer[place] = sample
        yield from buffer


def shows(play: Any) -> Any:
    import warnings

    import midepoch
    from midepoch.errors import ReplayWarning

    def make() -> Any:
        return midepoch.StatefulDataLoader(Buffered(), 4, seed=3)

    loader = make()
    batches = iter(loader)
    for _ in range(4):
        next(batches)
    again = make()
    again.load_state_dict(loader.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplayWarning)
        rest = [batch.tolist() for batch in again]
    return rest, [batch.tolist() for batch in batches]


Adapter = edited(EDITS)
