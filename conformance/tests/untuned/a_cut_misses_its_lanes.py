"""Asks the last lane before a cut for its snapshot, and not each lane for the one before it.

With several lanes and an interval no cut is ever complete: a restart replays the whole epoch.
"""

from typing import Any

from edited import edited

FAMILY = "costs"
BREAKS = ("COST-3",)
EDITS = [
    ("epoch/schedule.py", "return step.index + self._lanes >= cut", "return step.index + 1 == cut"),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_map", n=60, batch_size=1, lanes=2, interval=3, logged=True)
    life = plan.open()
    life.take(50)
    state, before = life.state(), plan.noted("fetch")
    plan.open(state).take(1)
    return plan.noted("fetch") - before > 20, False


Adapter = edited(EDITS)
