"""Computes at most one block of a shuffled order for a batch.

A batch of more than 16384 samples, from more than 4096, gets the first 16384 of them only.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("BASIS-3", "ORDER-6")
EDITS = [
    (
        "format/permutation.py",
        "        out = self._block(start, min(start + BLOCK, stop))\n"
        "        for low in range(start + BLOCK, stop, BLOCK):\n"
        "            out += self._block(low, min(low + BLOCK, stop))\n"
        "        return out\n",
        "        return self._block(start, min(start + BLOCK, stop))\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    loader = make(range(50000), 20000, shuffle=True, seed=1, collate_fn=list)
    return sorted(row for batch in loader for row in batch) == list(range(50000)), True


Adapter = edited(EDITS)
