"""Saves the length of the epoch before at the beginning of the next one.

A user whose dataset grows between epochs cannot load the state that was saved between two.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "epochs"
BREAKS = ("EPOCH-2", "RESUME-4", "RESUME-7", "DOC-1")
EDITS = [
    (
        "epoch/position.py",
        "                document = under(document, self.current_plan())\n",
        "                pass\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=6, batch_size=2, grow=3)
    life = plan.open()
    life.rest()
    return outcome(lambda: plan.open(life.state()).rest()), plan.whole(epochs=2)[1]


Adapter = edited(EDITS)
