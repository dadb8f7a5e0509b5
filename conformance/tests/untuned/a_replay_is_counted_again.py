"""Counts a lane's replayed batches again each time that a state is loaded and taken.

The counts of two restarts in a row, with no batch between, are refused or replay too much.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "resumes of resumes"
BREAKS = ("RESUME-2", "RESUME-3", "STATE-4", "DOC-6", "INTERVAL-1", "RESUME-7")
EDITS = [
    (
        "lane/progress.py",
        "        self.delivered = opening.delivered\n",
        "        self.delivered = opening.delivered + (opening.replay > 1)\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=20, batch_size=2, interval=100)
    life = plan.open()
    life.take(3)
    second = plan.open(life.state())
    second.take(1)
    return outcome(lambda: plan.open(second.state()).rest()), plan.whole()[0][4:]


Adapter = edited(EDITS)
