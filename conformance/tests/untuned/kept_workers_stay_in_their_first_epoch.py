"""Lets kept workers seed by the epoch in which they were started.

With persistent workers each epoch is augmented like the first, and a restart changes that.
"""

from typing import Any

from keeping import Loader as Keeping
from keeping import mutant, simple

FAMILY = "workers"
BREAKS = ("WORKERS-2", "WORKERS-1", "VAMB-2", "EPOCH-1", "EPOCH-2", "EPOCH-4", "VOWN-2", "VOWN-1")


class Loader(Keeping):
    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        return super().attempt(self.epoch, k, indices)


def shows(play: Any) -> Any:
    plan = play(n=6, batch_size=2, workers=1, draws=("own",))
    return plan.whole(epochs=2, persistent=True), plan.whole(epochs=2)


Adapter = mutant(Loader)
