"""Looks only whether a batch begins in the block of indices that it has computed.

In a shuffled epoch of more than 256 samples some batch is short, and samples are missing.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("BASIS-3", "ORDER-6", "ORDER-4", "ORDER-3")
EDITS = [
    (
        "sampling/batches.py",
        "if not low <= start <= stop <= low + len(self._block):",
        "if not low <= start < low + len(self._block):",
    ),
]


def shows(play: Any) -> Any:
    rows = [row[0] for batch in play(n=600, batch_size=7, shuffle=True).whole()[0] for row in batch]
    return sorted(rows), list(range(600))


Adapter = edited(EDITS)
