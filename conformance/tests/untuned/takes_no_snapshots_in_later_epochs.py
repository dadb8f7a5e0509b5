"""Forgets to start its countdown to the next snapshot over when an epoch begins.

A restart within the first epoch is quick; in a later one it reads the epoch from its start.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-3",)


class Loader(simple.Loader):
    due = 0

    def advance(self) -> None:
        self.batches += 1
        self.moved = True
        if self.batches < self.due + self.interval:
            return
        self.due = self.batches
        states = self.capture()
        if states:
            self.snapshot = {"at": self.batches, "states": states}

    def load(self, state: Any) -> None:
        super().load(state)
        self.due = self.batches


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=40, batch_size=1, logged=True)
    life = plan.open()
    life.rest()
    life.take(30)
    state, before = life.state(), plan.noted("fetch")
    plan.open(state).take(1)
    return plan.noted("fetch") - before > 10, False


Adapter = mutant(Loader)
