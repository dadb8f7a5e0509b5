"""Makes each block of shuffled indices four times as large as the one before, without a limit.

The first batches of an epoch show nothing of it. An epoch of a hundred million samples ends with
blocks of a gigabyte, each of which the loop waits for.
"""

import tracemalloc
from typing import Any

from edited import edited

FAMILY = "costs"
BREAKS = ("ORDER-5",)
EDITS = [
    (
        "sampling/batches.py",
        "            self._block_size = min(BLOCK, 4 * self._block_size)\n",
        "            self._block_size *= 4\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(1 << 40), 1024, shuffle=True, seed=1, collate_fn=len)
    batches = iter(loader)
    next(batches)
    tracemalloc.start()
    for _ in range(300):
        next(batches)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak > 8 * 1024 * 1024, False


Adapter = edited(EDITS)
