"""Compares those fields of two plans alone that are set in the saved one.

A run that was begun without shuffling, or with seed 0, and is restarted otherwise, repeats samples.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "plans"
BREAKS = ("REFUSE-3",)


class Loader(simple.Loader):
    def check(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            here = self.plan()
            unset = {k: here[k] for k, saved in state["plan"].items() if k in here and not saved}
            state = {**state, "plan": {**state["plan"], **unset}}
        super().check(state)


def shows(play: Any) -> Any:
    plan, other = (play(n=12, batch_size=2, shuffle=shuffle) for shuffle in (False, True))
    life = plan.open()
    seen = life.take(3)
    rest = outcome(lambda: other.open(life.state()).rest())
    if rest == "StateError":
        return rest, rest
    return sorted(row[0] for batch in seen + rest for row in batch), list(range(12))


Adapter = mutant(Loader)
