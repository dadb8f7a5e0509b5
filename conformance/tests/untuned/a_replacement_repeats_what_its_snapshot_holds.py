"""Keeps the tasks of a lane for a replacement when their results are in a snapshot already.

With an interval that is shorter than the epoch, a dataset that counts what it has read is ahead
after a worker's death.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "                self._entries[lane] = snapshot\n"
        "                self._since[lane] = []\n"
        "                self._unknown.pop(lane, None)\n",
        "                self._entries[lane] = snapshot\n"
        "                self._unknown.pop(lane, None)\n",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_map", "n": 12, "batch_size": 1, "interval": 2}
    sound = play(**fields)
    plan = play(**fields, workers=1, restarts=1, die_at=7, die_once=True, logged=True)
    return plan.whole()[0], sound.whole(lanes=1)[0]


Adapter = edited(EDITS)
