"""Numbers only the good batches of a lane: after an error each batch has another's seed.

A restart after an unreadable sample replays one batch too many or augments differently.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("SEED-3", "RESUME-7", "VAMB-1", "FAULT-2", "SEED-7", "VOWN-1")
EDITS = [
    (
        "lane/lane.py",
        "        if not isinstance(outcome, Ended):\n",
        "        if isinstance(outcome, Batch):\n",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "stream": "rewinding", "draws": ("own",)}
    plan = play(**fields, n=12, batch_size=2, fail_at=3)
    life = plan.open()
    seen = life.tolerant(4)
    return plan.open(life.state()).tolerant(), life.tolerant() if seen else []


Adapter = edited(EDITS)
