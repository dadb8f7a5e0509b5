"""Lets delivery out of order run as far ahead of a slow batch as it likes.

While one sample hangs, the state lists every batch that overtook it: thousands.
"""

from typing import Any

from edited import edited

FAMILY = "costs"
BREAKS = ("COST-1", "UNORD-1")
EDITS = [
    (
        "epoch/schedule.py",
        "return not self.in_order and self._next - deliveries.low >= WINDOW * self.capacity",
        "return False",
    ),
]


def shows(play: Any) -> Any:
    fields = {"workers": 2, "in_order": False, "logged": True, "gate": (0, 199)}
    plan = play(**fields, n=200, batch_size=1)
    life = plan.open()
    life.take(60)
    return len(life.state()["position"]["ahead"]) > 20, False


Adapter = edited(EDITS)
