"""Removes a part of the loaded state, deep inside, once the dataset has loaded it.

The caller's state still looks whole, and cannot be loaded again after a rollback.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS: tuple[str, ...] = ()


class Loader(simple.Loader):
    given: Any = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.given = state["snapshot"]

    def restore(self) -> int:
        done = super().restore()
        if self.given is not None:
            self.given["states"].clear()
            self.given = None
        return done


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=10, batch_size=2)
    life = plan.open()
    life.take(2)
    state = life.state()
    before = repr(state)
    plan.open(state).take(1)
    return repr(state), before


Adapter = mutant(Loader)
