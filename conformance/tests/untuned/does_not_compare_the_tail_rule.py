"""Compares all of the plan but whether incomplete batches are dropped.

An evaluation that is restarted with the training's arguments never sees the last samples.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "plans"
BREAKS = ("REFUSE-3",)


class Loader(simple.Loader):
    def check(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            state = {**state, "plan": {**state["plan"], "drop_last": self.drop_last}}
        super().check(state)


def shows(play: Any) -> Any:
    plan, other = (play(n=11, batch_size=2, tail=tail) for tail in ("keep", "drop"))
    life = plan.open()
    seen = life.take(3)
    rest = outcome(lambda: other.open(life.state()).rest())
    return rest == "StateError" or len({r[0] for b in seen + rest for r in b}) == 11, True


Adapter = mutant(Loader)
