"""Keeps its workers after a break, and forgets what they had read ahead of it.

The first batches of the next epoch are those that the epoch before had left in the pipes.
"""

from typing import Any

from keeping import Loader as Keeping
from keeping import mutant, simple

FAMILY = "workers"
BREAKS = ("EPOCH-5", "RESUME-7", "WORKERS-2")


class Loader(Keeping):
    def keep(self, pool: simple.Pool) -> None:
        for asked in pool.asked.values():
            asked.clear()
        self.kept = pool


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, shuffle=True, workers=2, persistent=True)
    life = plan.open()
    life.broken(1)
    return life.rest(), plan.whole(epochs=2)[1]


Adapter = mutant(Loader)
