"""Puts the caller's random streams back only if the sampler's step went well.

After a sampler's exception that the program caught, the program's own random numbers go on in the
sampler's stream.
"""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import Sampler

FAMILY = "random numbers"
BREAKS = ("SEED-6",)
EDITS = [
    (
        "lane/streams.py",
        "        caller = _current()\n        try:\n            if self._own is None:\n",
        "        caller = _current()\n        if True:\n            if self._own is None:\n",
    ),
    (
        "lane/streams.py",
        "            yield\n        finally:\n            self._own = _current()\n",
        "            yield\n            self._own = _current()\n",
    ),
]


class Failing(Sampler[int]):
    """A sampler that raises once in each epoch, and goes on."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.at += 1
        if self.at == 3:
            raise OSError("no index")
        if self.at > 8:
            raise StopIteration
        return self.at

    def __len__(self) -> int:
        return 8


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(10), 1, sampler=Failing(), seed=1, collate_fn=list)
    batches = iter(loader)
    random.seed(5)
    before = random.getstate()
    for _ in range(5):
        with contextlib.suppress(OSError):
            next(batches)
    return random.getstate() == before, True


Adapter = edited(EDITS)
