"""Counts the batches up to the next snapshot in each process, and not in the epoch.

A run that is interrupted more often than the interval never takes a snapshot: each restart replays
more than the one before.
"""

from typing import Any

import ground
from ground import simple

FAMILY = "costs"
BREAKS = ("COST-3", "COST-2")


class Loader(simple.Loader):
    steps = 0

    def advance(self) -> None:
        self.batches += 1
        self.steps += 1
        self.moved = True
        if self.steps % self.interval == 0:
            states = self.capture()
            if states:
                self.snapshot, self.raised = {"at": self.batches, "states": states}, []

    def load(self, state: Any) -> None:
        super().load(state)
        self.steps = 0


def shows(play: Any) -> Any:
    game = play(kind="stateful_iterable", n=80, batch_size=2, interval=3, logged=True)
    state, costs = None, []
    for _ in range(12):
        before = game.noted("fetch")
        life = game.open(state)
        life.take(2)
        state = life.state()
        life.close()
        costs.append(game.noted("fetch") - before)
    return max(costs) > 2 * max(costs[:3]), False


Adapter = ground.mutant(Loader)
