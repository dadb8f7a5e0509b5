"""Leaves the dataset of a lane that has ended as it is, also where it lives on into the next epoch.

With lanes of uneven length, the epoch after a restart differs in the lanes that had ended.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("EPOCH-1", "RESUME-7", "EPOCH-2")
EDITS = [
    ("lane/lane.py", "unused = entry.ended and not self.spec.keeps", "unused = entry.ended"),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "stream": "uneven", "draws": ("private python",)}
    plan = play(**fields, n=13, batch_size=2, lanes=2)
    life = plan.open()
    life.take(6)
    resumed = plan.open(life.state())
    resumed.rest()
    return resumed.rest(), plan.whole(epochs=2)[1]


Adapter = edited(EDITS)
