"""Begins with new workers after each load, and leaves those that it had kept as they are.

A run that is rolled back often, in one process, has more and more idle workers.
"""

import multiprocessing
from typing import Any

from keeping import Loader as Keeping
from keeping import mutant

FAMILY = "workers"
BREAKS = ("FAULT-7", "FAULT-4")


class Loader(Keeping):
    def load(self, state: Any) -> None:
        super().load(state)
        self.kept = None  # they are those of another run


def shows(play: Any) -> Any:
    before = set(multiprocessing.active_children())
    plan = play(n=6, batch_size=2, workers=1, persistent=True)
    life = plan.open()
    for _ in range(4):
        life.rest()
        life.load(life.state())
    left = set(multiprocessing.active_children()) - before
    life.close()
    for process in left:
        process.kill()
        process.join()
    return len(left), 1


Adapter = mutant(Loader)
