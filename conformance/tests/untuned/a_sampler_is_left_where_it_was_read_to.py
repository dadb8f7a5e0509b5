"""Leaves a sampler where the read-ahead brought it when an epoch is left early.

With workers, the epoch after a break near the end begins a pass too late.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-7", "EPOCH-5", "WORKERS-1", "WORKERS-2", "EPOCH-2", "RESUME-4")
EDITS = [
    (
        "epoch/opening.py",
        "        progress.order.rewind_to(progress.reach, disturbed=lanes_lost)\n",
        "",
    ),
]


def shows(play: Any) -> Any:
    plan = play(sampler="stateful", n=8, batch_size=2)
    lives = [plan.open(), plan.open(workers=2)]
    for life in lives:
        life.broken(3)
    return lives[1].rest(), lives[0].rest()


Adapter = edited(EDITS)
