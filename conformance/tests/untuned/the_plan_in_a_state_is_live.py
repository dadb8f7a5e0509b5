"""Hands out the dictionary of the loader's own plan.

A program that edits a state before it saves it changes the loader that goes on.
"""

from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("STATE-2", "STATE-1")
EDITS = [("format/state.py", '"options": dict(plan.options)', '"options": plan.options')]


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, shuffle=True)
    life = plan.open()
    life.take(2)
    life.session.state()["plan"]["options"]["order"] = "x"
    return life.state()["plan"]["options"], {}


Adapter = edited(EDITS)
