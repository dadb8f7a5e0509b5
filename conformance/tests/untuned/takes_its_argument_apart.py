"""Takes the parts out of the state that it is given.

A user who loads one state into two loaders, for training and for a comparison, finds it empty.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS: tuple[str, ...] = ()


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        self.snapshot = state.pop("snapshot")


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2)
    life = plan.open()
    life.take(2)
    state = life.state()
    before = repr(state)
    plan.open(state)
    return repr(state), before


Adapter = mutant(Loader)
