"""Copies the snapshot of a state that it loads, but not the list of the batches that raised.

The next error is appended to the caller's list: who loads the same state again, to go back, has
an error in it that was not there.
"""

import copy
from typing import Any

import ground
from ground import simple

FAMILY = "states"
BREAKS = ("STATE-7", "STATE-5", "STATE-1", "STATE-2")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        self.check(state)
        self.stop()
        self.epoch, self.batches = state["epoch"], state["batches"]
        self.snapshot, self.moved = copy.deepcopy(state["snapshot"]), False
        self.raised, self.named = state["raised"], 0


def shows(play: Any) -> Any:
    game = play(kind="map", n=12, batch_size=2, fail_at=5)
    life = game.open()
    life.take(1)
    state = life.state()
    raised = list(state["raised"])
    game.open(state).tolerant(4)
    return state["raised"], raised


Adapter = ground.mutant(Loader)
