"""Hands the NumPy stream of a sampler out to batches while the sampler still draws from it.

Without workers a sampler that draws index by index gives another order than with workers.
"""

from collections.abc import Iterator
from typing import Any

import numpy
from edited import edited
from torch.utils.data import Sampler

FAMILY = "random numbers"
BREAKS = ("WORKERS-1", "WORKERS-2", "ELASTIC-1")
EDITS = [
    (
        "lane/streams.py",
        "            self._own = _current()\n            _put(caller)\n",
        "            self._own = _current()\n            _put(caller)\n"
        "            numpy_stream.add_spare(self._own.numpy)\n",
    ),
]


class Drawing(Sampler[int]):
    """A sampler that draws each index when it is asked for it."""

    def __iter__(self) -> Iterator[int]:
        return (int(numpy.random.randint(0, 1000)) for _ in range(12))


def shows(play: Any) -> Any:
    import midepoch

    runs = []
    for workers in (0, 1):
        loader: Any = midepoch.StatefulDataLoader(
            range(1000),  # type: ignore[arg-type]  # torch takes any sequence
            2,
            sampler=Drawing(),
            seed=1,
            num_workers=workers,
        )
        runs.append([batch.tolist() for batch in loader])
    return runs[0], runs[1]


Adapter = edited(EDITS)
