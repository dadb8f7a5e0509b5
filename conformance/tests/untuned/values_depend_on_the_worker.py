"""Mixes the worker's number into the seeds of its samples.

With another number of workers the same samples are augmented in another way.
"""

import random
from typing import Any

from ground import mutant, simple

FAMILY = "workers"
BREAKS = ("WORKERS-1", "ELASTIC-1", "VOWN-1", "RESUME-1", "RESUME-2")


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        worker = i // self.batch_size % max(1, self.workers)
        return random.Random(f"{self.seed}/{epoch}/{i}/{worker}").random


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, draws=("own",))
    return plan.whole(workers=2), plan.whole()


Adapter = mutant(Loader)
