"""Takes over the lane that has the next turn where a resumed epoch is scheduled, not in its states.

A job that is preempted before its first batch saves a state from which the lanes come in another
order.
"""

from typing import Any

from edited import edited

FAMILY = "resumes of resumes"
BREAKS = ("RESUME-3", "RESUME-2", "STATE-4", "DOC-6", "RESUME-7")
EDITS = [
    ("epoch/progress.py", "            self.next_lane = document.lanes.next\n", ""),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=20, batch_size=2, lanes=3)
    life = plan.open()
    life.take(2)
    again = plan.open(life.state()).begin()
    return plan.open(again.state()).rest(), life.rest()


Adapter = edited(EDITS)
