"""Reaches the state of its random source by making a batch of every epoch before the resumed one.

Restarts become slower with every epoch: hours, where an epoch has few large batches.
"""

from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-3",)


class Loader(simple.Loader):
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def access(self, done: int) -> Iterator[simple.Answer]:
        if self.loaded and not hasattr(self.copy, "state_dict"):
            for epoch in range(self.epoch):
                for k, batch in enumerate(self.order(epoch)[:1]):
                    self.attempt(epoch, k, batch)
        self.loaded = False
        return super().access(done)


def shows(play: Any) -> Any:
    plan = play(n=4, batch_size=2, logged=True)
    life = plan.open()
    for _ in range(20):
        life.rest()
    state, before = life.state(), plan.noted("fetch")
    plan.open(state).take(1)
    return plan.noted("fetch") - before > 10, False


Adapter = mutant(Loader)
