"""Drops the loaded snapshot once it is used: a state taken before the next one replays everything.

The first restart is quick, and the second one reads the whole epoch again.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-3",)


class Loader(simple.Loader):
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def restore(self) -> int:
        done = super().restore()
        if self.loaded:
            self.loaded, self.snapshot = False, None
        return done


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=80, batch_size=1, interval=3, logged=True)
    life = plan.open()
    life.take(60)
    second = plan.open(life.state())
    second.take(1)
    state, before = second.state(), plan.noted("fetch")
    plan.open(state).take(1)
    return plan.noted("fetch") - before > 10, False


Adapter = mutant(Loader)
