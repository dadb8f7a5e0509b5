"""Forgets the snapshot before the latest one, which a pass that is left on a snapshot needs.

A dataset whose generator goes on from pass to pass differs after a break and a restart.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("RESUME-7", "EPOCH-2", "EPOCH-1", "RESUME-4")
EDITS = [("lane/progress.py", "            self._before = self.latest\n", "")]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", stream="buffer", n=9, batch_size=2)
    life = plan.open()
    life.broken(2)
    life.begin()
    state = life.state()
    whole = plan.open()
    whole.broken(2)
    return plan.open(state).rest(), whole.rest()


Adapter = edited(EDITS)
