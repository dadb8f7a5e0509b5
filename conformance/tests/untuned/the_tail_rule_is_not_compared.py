"""Compares all fields of two plans but the tail rule.

An evaluation that is restarted with the training's arguments drops samples, or keeps them.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "plans"
BREAKS = ("DOC-12", "REFUSE-3")
EDITS = [
    (
        "format/plan.py",
        "        if field.name not in ignore\n",
        '        if field.name not in ignore and field.name != "tail"\n',
    ),
]


def shows(play: Any) -> Any:
    plan, other = (play(n=11, batch_size=2, tail=tail) for tail in ("keep", "drop"))
    life = plan.open()
    life.take(3)
    return outcome(lambda: other.open(life.state()).rest()), "PlanMismatchError"


Adapter = edited(EDITS)
