"""Does not ask a dataset for its state at the beginning of an epoch, only at the end of one.

After an epoch that was left early, a state says nothing of the dataset until its first snapshot.
"""

from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("RESUME-7", "RESUME-4", "INTERVAL-1", "EPOCH-4")
EDITS = [
    (
        "epoch/between.py",
        "report = execution.stateful and (\n"
        "            progress.follows_left or (continuing and not progress.iterable)\n"
        "        )\n",
        "report = False\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_map", n=8, batch_size=1, interval=100)
    life = plan.open()
    life.broken(3)
    life.take(1)
    return plan.open(life.state()).rest(), life.rest()


Adapter = edited(EDITS)
