"""Restores a replaced worker to its latest snapshot, and not to its latest batch.

With an interval, a dataset that counts what it has read is behind after a worker's death.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "            for task in self._since.get(lane, ()):\n",
        "            for task in ():\n",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_map", "n": 12, "batch_size": 1, "interval": 100}
    sound = play(**fields)
    plan = play(**fields, workers=1, restarts=1, die_at=5, die_once=True, logged=True)
    return plan.whole()[0], sound.whole(lanes=1)[0]


Adapter = edited(EDITS)
