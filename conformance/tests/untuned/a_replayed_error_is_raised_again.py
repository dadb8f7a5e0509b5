"""Raises the error of a batch that a restart only makes again.

After an unreadable sample, and before the next snapshot, each restart fails at once.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-5", "FAULT-11", "RESUME-7")
EDITS = [
    (
        "lane/lane.py",
        "return Done() if task.raises else Failure(error, fetching=True)",
        "return Failure(error, fetching=True)",
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_map", n=12, batch_size=2, interval=100, fail_at=3)
    life = plan.open()
    life.tolerant(3)
    return plan.open(life.state()).tolerant(), plan.open().tolerant()[3:]


Adapter = edited(EDITS)
