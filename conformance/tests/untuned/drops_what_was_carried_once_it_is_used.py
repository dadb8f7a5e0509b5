"""Drops the samples that rolled over from a state as soon as they are delivered.

A restart in the middle of such an epoch starts as many samples too late, and leaves those out.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("EPOCH-6", "EPOCH-7", "RESUME-7", "EPOCH-4")
EDITS = [
    (
        "sampling/batches.py",
        "None if self._carried is None else tuple(self._carried))",
        "None if self._carried is None else () if batches else tuple(self._carried))",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=4, tail="rollover", shuffle=True)
    life = plan.open()
    life.rest()
    life.take(1)
    return plan.open(life.state()).rest(), life.rest()


Adapter = edited(EDITS)
