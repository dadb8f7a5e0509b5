"""Divides the interval by the lanes twice: with several lanes each batch has its snapshot.

A dataset with a large state is as slow with a long interval as with none.
"""

from typing import Any

from edited import edited

FAMILY = "costs"
BREAKS = ("COST-2",)
EDITS = [
    (
        "epoch/pool.py",
        "interval=max(1, interval // max(1, plan.lanes // world)) if interval else 0",
        "interval=max(1, interval // max(1, plan.lanes // world) ** 3) if interval else 0",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "interval": 20, "lanes": 4, "logged": True}
    plan = play(**fields, n=200, batch_size=1)
    plan.whole()
    return plan.noted("state_dict") > 100, False


Adapter = edited(EDITS)
