"""Asks a stream for its state at its end as within a pass: as its iterator, if it is its own.

The next epoch has no iterator yet, so its state says nothing: after a restart between two epochs a
stream that is its own iterator starts over as if it were new.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("EPOCH-2", "EPOCH-3", "RESUME-7")
EDITS = [
    (
        "lane/lane.py",
        "self._take_snapshot(inside=not self._ended)",
        "self._take_snapshot(inside=True)",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "stream": "oneshot"}
    plan = play(**fields, n=9, batch_size=2)
    life = plan.open()
    life.rest()
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1]


Adapter = edited(EDITS)
