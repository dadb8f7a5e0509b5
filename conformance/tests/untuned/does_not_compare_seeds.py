"""Compares all of the plan but the seed, and continues with its own.

A run that is restarted under another seed repeats samples and leaves others out.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "plans"
BREAKS = ("REFUSE-3",)


class Loader(simple.Loader):
    def check(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            state = {**state, "plan": {**state["plan"], "seed": self.seed}}
        super().check(state)


def shows(play: Any) -> Any:
    plan, other = (play(n=12, batch_size=2, shuffle=True, seed=seed) for seed in (1, 2))
    life = plan.open()
    seen = life.take(3)
    rest = outcome(lambda: other.open(life.state()).rest())
    return rest == "StateError" or len({r[0] for b in seen + rest for r in b}) == 12, True


Adapter = mutant(Loader)
