"""Leaves an epoch's last batch out if it has a single sample, on which batch norm fails.

Nobody asked to drop anything: one sample of each epoch is missing.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("BASIS-3", "DOC-11", "ORDER-6", "EPOCH-2", "EPOCH-3")
EDITS = [
    (
        "sampling/batches.py",
        "            self._end = self._total - (self._total - self._place) % self._size\n",
        "            self._end = self._total - (self._total - self._place) % self._size\n"
        "        elif self._total > self._size > 1 and self._total % self._size == 1:\n"
        "            self._end -= 1\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=9, batch_size=4)
    return sum(map(len, plan.whole()[0])), 9


Adapter = edited(EDITS)
