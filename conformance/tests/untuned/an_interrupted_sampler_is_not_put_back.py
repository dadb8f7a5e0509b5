"""Restores the lanes after an interrupt, and lets the user's sampler go on where it was read to.

With a shuffling sampler, a user who presses Ctrl-C and goes on gets an error or another order.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-12", "RESUME-7")
EDITS = [
    (
        "epoch/opening.py",
        "continuing=moved and not (replay_only or restored))",
        "continuing=moved and not replay_only)",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, sampler="random")
    right = plan.whole()[0]
    plan.interrupt_at(int(right[3][0][0]))
    return plan.open().tolerant(), [*right[:3], "KeyboardInterrupt", *right[3:]]


Adapter = edited(EDITS)
