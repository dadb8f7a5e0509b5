"""Drops a state that was loaded and not used yet before it compares the plan of another one.

A program that tries two checkpoints, of which the second is refused, starts over silently.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "DOC-13", "RESUME-7")
EDITS = [
    (
        "epoch/position.py",
        "        check_plan(document, here, expected, adopted=adopted, recut=recut)\n",
        "        self._loaded = None\n"
        "        check_plan(document, here, expected, adopted=adopted, recut=recut)\n",
    ),
]


def shows(play: Any) -> Any:
    plan, other = (play(n=12, batch_size=size) for size in (2, 3))
    life = plan.open()
    life.take(2)
    again, foreign = plan.open(life.state()), other.open()
    foreign.take(1)
    outcome(lambda: again.load(foreign.state()))
    return again.rest(), life.rest()


Adapter = edited(EDITS)
