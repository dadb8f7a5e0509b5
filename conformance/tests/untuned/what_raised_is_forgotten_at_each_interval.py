"""Forgets at each interval which batches raised, also where there was nothing to snapshot.

A stream without a state is replayed from its beginning, and the replay meets an error that the
caller has handled long ago: the run cannot be resumed at the first try.
"""

from typing import Any

import ground
from ground import simple

FAMILY = "streams"
BREAKS = ("FAULT-11", "RESUME-7", "RESUME-1")


class Loader(simple.Loader):
    def advance(self) -> None:
        self.batches += 1
        self.moved = True
        if self.batches % self.interval == 0:
            states = self.capture()
            if states:
                self.snapshot = {"at": self.batches, "states": states}
            self.raised = []


def shows(play: Any) -> Any:
    game = play(kind="iterable", stream="rewinding", n=20, batch_size=2, fail_at=5, interval=4)
    whole = game.open().tolerant()
    life = game.open()
    seen = life.tolerant(5)
    state = life.state()
    life.close()
    return seen + game.open(state).tolerant(), whole


Adapter = ground.mutant(Loader)
