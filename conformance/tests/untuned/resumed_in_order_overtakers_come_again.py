"""Leaves batches that were delivered ahead out of a resumed epoch only if it is out of order, too.

A run that is restarted with fewer workers or in order shows these batches twice.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("UNORD-1", "ELASTIC-3", "ELASTIC-1")
EDITS = [
    (
        "epoch/schedule.py",
        "        if not replay and step.index in self._loaded:\n",
        "        if not replay and not self.in_order and step.index in self._loaded:\n",
    ),
]


def shows(play: Any) -> Any:
    fields = {"workers": 2, "in_order": False, "logged": True, "gate": (0, 5)}
    plan = play(**fields, n=12, batch_size=1)
    life = plan.open()
    seen = life.take(1)
    seen += plan.open(life.state(), workers=0, in_order=True).rest()
    return sorted(row[0] for batch in seen for row in batch), list(range(12))


Adapter = edited(EDITS)
